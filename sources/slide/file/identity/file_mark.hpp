// What tells that a slide's file is the same.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <penstock/error.hpp>
#include <penstock/extend/file_descriptor.hpp>

namespace penstock::slide {

/// What tells that a file is the one that was opened first, unchanged.
struct FileMark {
  std::uint64_t bytes = 0, inode = 0, device = 0;
  std::int64_t changed_s = 0, changed_ns = 0;
  friend bool operator==(const FileMark&, const FileMark&) = default;
};

/// What tells that a file has the same content, wherever it lies, as far as a look at some of it can: its size, and a
/// hash of that and of 4 KiB each at its beginning, in the middle and at its end.
struct FileSample {
  std::uint64_t bytes = 0, hash = 0;
  friend bool operator==(const FileSample&, const FileSample&) = default;
};

/// @throws Error(not_found | io) for what can't be opened, or is no regular file.
std::unique_ptr<FileDescriptor> open_file(const std::string& path);
/// @throws Error(io).
FileMark mark_of(int descriptor, const std::string& path);
/// @throws Error(io).
FileSample sample_of(int descriptor, const std::string& path);
/// Error(io): the file is another than the one that was opened first.
Error changed_error(const std::string& path);

}  // namespace penstock::slide
