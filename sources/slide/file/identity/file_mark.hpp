// SPDX-License-Identifier: Apache-2.0
// Identifies a slide's file, and its content.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <penstock/error.hpp>
#include <penstock/extend/file_descriptor.hpp>

namespace penstock::slide {

/// Identifies a file in its present state. If the file is replaced or changed, its mark differs.
struct FileMark {
  std::uint64_t bytes = 0, inode = 0, device = 0;
  std::int64_t changed_s = 0, changed_ns = 0;
  friend bool operator==(const FileMark&, const FileMark&) = default;
};

/// Identifies a file's content, whatever the file's path, by reading parts of the file. Consists of the size and of a
/// hash. The hash covers the size and three parts of 4 KiB: at the beginning, in the middle and at the end.
struct PartialDigest {
  std::uint64_t bytes = 0, hash = 0;
  friend bool operator==(const PartialDigest&, const PartialDigest&) = default;
};

/// Opens a file for reading. @throws Error(not_found | io) if it can't be opened.
std::unique_ptr<FileDescriptor> open_file(const std::string& path);
/// @throws Error(io), also if the file is not a regular file.
FileMark mark_of(int descriptor, const std::string& path);
/// @throws like mark_of.
PartialDigest sample_of(int descriptor, const std::string& path);
/// Returns an Error(io) which says that the file was changed or replaced since it was opened.
Error changed_error(const std::string& path);

}  // namespace penstock::slide
