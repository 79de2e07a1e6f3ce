// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <span>
#include <string>

namespace make_slides {

/// A file that gets its name NAME when it is complete. Until then it is called NAME.partial. If anything fails,
/// NAME.partial is removed. @throws std::runtime_error.
class NewFile {
 public:
  /// Makes the file. Its first `first_bytes` bytes are zeros until `finish`.
  NewFile(std::string name, std::uint64_t first_bytes);
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  ~NewFile();

  /// Appends bytes. Returns their offset.
  std::uint64_t append(std::span<const std::byte> bytes);
  /// Appends zeros until the length is a multiple of `bytes`. Returns the file's length.
  std::uint64_t align(std::uint64_t bytes);
  std::uint64_t bytes() const noexcept { return bytes_; }
  /// Writes `first` at the beginning of the file, and gives the file its name. Replaces a file that has this name.
  void finish(std::span<const std::byte> first);

 private:
  void write(std::span<const std::byte> bytes);

  std::string name_, partial_;
  std::ofstream out_;
  std::uint64_t bytes_ = 0;
};

}  // namespace make_slides
