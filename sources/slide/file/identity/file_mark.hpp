// SPDX-License-Identifier: Apache-2.0
// What identifies a slide's file.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <penstock/error.hpp>
#include <penstock/extend/file_descriptor.hpp>

namespace penstock::slide {

/// Identifies the file that was opened first, in its unchanged state.
struct FileMark {
  std::uint64_t bytes = 0, inode = 0, device = 0;
  std::int64_t changed_s = 0, changed_ns = 0;
  friend bool operator==(const FileMark&, const FileMark&) = default;
};

/// Identifies a file's content, in any place, as far as a sample can. It is the size, and a hash of the size and of 4
/// KiB each at the beginning, in the middle and at the end.
struct FileSample {
  std::uint64_t bytes = 0, hash = 0;
  friend bool operator==(const FileSample&, const FileSample&) = default;
};

/// @throws Error(not_found | io) if it can't be opened, or is not a regular file.
std::unique_ptr<FileDescriptor> open_file(const std::string& path);
/// @throws Error(io).
FileMark mark_of(int descriptor, const std::string& path);
/// @throws Error(io).
FileSample sample_of(int descriptor, const std::string& path);
/// Returns Error(io): the file is not the one that was opened first.
Error changed_error(const std::string& path);

}  // namespace penstock::slide
