#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <penstock/extend/file_descriptor.hpp>
#include <penstock/extend/store_files.hpp>

namespace penstock::cli {

/// A file that gets its name when it is whole: until then it is called NAME.partial, which another run that writes the
/// same file can't use, and which is removed where this run fails. One thread at a time. @throws penstock::Error.
class NewFile {
 public:
  /// Begins the file after `first_bytes`, which are zeros until `finish`. What a killed run left is thrown away.
  NewFile(std::string name, std::uint64_t first_bytes);
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  ~NewFile();

  /// Returns the offset of what was appended.
  std::uint64_t append(std::span<const std::byte> bytes);
  /// Zeros up to a multiple of `bytes`. Returns the file's length.
  std::uint64_t align(std::uint64_t bytes);
  std::uint64_t bytes() const noexcept { return bytes_; }
  /// Puts these at the file's beginning, and gives it its name. `replace`: where one of this name is there by now.
  void finish(std::span<const std::byte> first, bool replace);

 private:
  void write_at(std::span<const std::byte> bytes, std::uint64_t offset);
  void flush();

  std::string name_, partial_;
  FileLock lock_;
  std::optional<FileDescriptor> file_;
  std::uint64_t bytes_;  ///< with those in the buffer
  std::vector<std::byte> buffer_;
  bool finished_ = false;
};

}  // namespace penstock::cli
