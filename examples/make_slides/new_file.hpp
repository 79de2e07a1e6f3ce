// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <span>
#include <string>

namespace make_slides {

/// A file that gets its name when it is whole: until then it is called NAME.partial, which is removed where something
/// fails. @throws std::runtime_error.
class NewFile {
 public:
  /// Begins the file after `first_bytes`, which are zeros until `finish`.
  NewFile(std::string name, std::uint64_t first_bytes);
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  ~NewFile();

  /// Returns the offset of what was appended.
  std::uint64_t append(std::span<const std::byte> bytes);
  /// Zeros up to a multiple of `bytes`. Returns the file's length.
  std::uint64_t align(std::uint64_t bytes);
  std::uint64_t bytes() const noexcept { return bytes_; }
  /// Puts these at the file's beginning, and gives it its name, also where a file has it already.
  void finish(std::span<const std::byte> first);

 private:
  void write(std::span<const std::byte> bytes);

  std::string name_, partial_;
  std::ofstream out_;
  std::uint64_t bytes_ = 0;
};

}  // namespace make_slides
