// SPDX-License-Identifier: Apache-2.0
// Reads parts of a TIFF file: numbers in the file's byte order, and values up to a limit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace penstock::slide {

/// An open TIFF file. One thread at a time.
class TiffFile {
 public:
  /// `bytes`: the file's size. `path` must outlive this object, and `descriptor` must stay open. @throws Error(corrupt)
  /// if the file does not begin like a TIFF file; Error(io).
  TiffFile(int descriptor, const std::string& path, std::uint64_t bytes);

  /// Fills `out` with the bytes at `offset`. All functions that read @throw Error(io), and Error(corrupt) if the file
  /// ends too early. The error's text then says that the file ends "in the middle of" `what`.
  void read(std::span<std::byte> out, std::uint64_t offset, const std::string& what) const;
  /// Reads a whole number of up to 8 bytes from a directory.
  std::uint64_t number(std::uint64_t offset, std::size_t bytes) const;
  /// Reads a value. @throws Error(corrupt) also for a value above 64 MiB, and once all values together exceed 96 MiB,
  /// because many entries may point to one long value.
  std::vector<std::byte> value(std::uint64_t offset, std::uint64_t bytes, const std::string& what);

  const std::string& path() const noexcept { return path_; }
  std::uint64_t bytes() const noexcept { return bytes_; }
  bool big_endian() const noexcept { return big_endian_; }
  bool big_tiff() const noexcept { return big_tiff_; }

 private:
  void check_end(std::uint64_t offset, std::uint64_t bytes, const std::string& what) const;

  static constexpr std::uint64_t most_of_one = 64 << 20, most_of_all = 96 << 20;

  const int descriptor_;
  const std::string& path_;
  const std::uint64_t bytes_;
  bool big_endian_ = false, big_tiff_ = false;
  std::uint64_t left_ = most_of_all;
};

}  // namespace penstock::slide
