// SPDX-License-Identifier: Apache-2.0
// One directory of a TIFF in memory, as libtiff reads it.
#pragma once

#include <array>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include <tiffio.h>

namespace penstock::tiff {

// Messages of libtiff are kept, and never printed. The functions that libtiff calls do not throw: libtiff would lose
// memory.
class File {
 public:
  // Opens the directory at `offset`, which find_page() has checked. libtiff allocates at most `max_bytes` at once.
  // @throws Error(corrupt | out_of_memory).
  File(std::span<const std::byte> encoded, std::uint64_t offset, std::uint64_t max_bytes);
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  ::TIFF* get() const noexcept { return tiff_.get(); }
  std::span<const std::byte> encoded() const noexcept { return encoded_; }
  template <class T>
  T field(std::uint32_t tag) const {
    T value{};
    TIFFGetFieldDefaulted(get(), tag, &value);
    return value;
  }

  // Decodes a strip or a tile to `to`, or as many bytes of its beginning. @throws Error(corrupt), also if libtiff
  // warns.
  void read_strip(std::uint32_t number, std::uint8_t* to, std::size_t bytes);
  void read_tile(std::uint32_t number, std::uint8_t* to, std::size_t bytes);

 private:
  struct Close {
    void operator()(::TIFF* tiff) const noexcept { TIFFClose(tiff); }
  };
  static int on_error(::TIFF* tiff, void* file, const char* module, const char* format, std::va_list arguments);
  static int on_warning(::TIFF* tiff, void* file, const char* module, const char* format, std::va_list arguments);
  static tmsize_t on_read(thandle_t file, void* to, tmsize_t bytes);
  static tmsize_t on_write(thandle_t file, void* from, tmsize_t bytes);
  static toff_t on_seek(thandle_t file, toff_t offset, int from);
  static int on_close(thandle_t file);
  static toff_t on_size(thandle_t file);
  static int on_map(thandle_t file, void** base, toff_t* size);
  static void on_unmap(thandle_t file, void* base, toff_t size);
  void note(const char* format, std::va_list arguments) noexcept;
  void begin() noexcept;
  void check(tmsize_t read, std::size_t bytes);

  std::span<const std::byte> encoded_;
  std::uint64_t position_ = 0;
  bool decoding_ = false;  // warnings count
  bool failed_ = false;
  std::array<char, 200> message_{};  // the first one
  std::unique_ptr<::TIFF, Close> tiff_;
};

}  // namespace penstock::tiff
