// SPDX-License-Identifier: Apache-2.0
// One PNG being read from memory: libpng's structs, its callbacks, and checks of what the header declares.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <png.h>

#include "chunks.hpp"

namespace penstock::png {

// Callbacks may throw through libpng's C code. Its frames hold nothing that needs cleaning up, and ~Reader() frees the
// memory that libpng allocated.
class Reader {
 public:
  // Checks everything except the pixels. @throws like ImageDecoding::open.
  Reader(std::span<const std::byte> encoded, const PngOptions& options);
  ~Reader();
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  ImageShape shape() const noexcept;
  bool interlaced() const noexcept { return header_.interlaced; }
  // Number of values per pixel in libpng's rows: 1 for indices of a palette, 3 for colours that become `gray`,
  // otherwise the number of shape()'s channels.
  int row_channels() const noexcept;

  // Bytes per value in libpng's rows: 1, or 2 in the machine's order.
  std::size_t value_bytes() const noexcept { return header_.depth == 16 && options_.dtype == DType::u16 ? 2 : 1; }
  // Factor by which values of 1 byte are multiplied if the result's values have 2 bytes.
  std::uint16_t widening() const noexcept { return options_.color == PngOptions::labels ? 1 : 257; }

  // Returns whether the values in libpng's rows are indices of colors().
  bool indexed() const noexcept { return header_.color == palette && options_.color != PngOptions::labels; }
  // RGB and opacity of each index. Call it after start().
  std::span<const std::array<std::uint8_t, 4>> colors() const noexcept { return {colors_.data(), color_count_}; }

  // Prepares to read rows. Call it once.
  void start();
  // Reads the next row, of shape().width * row_channels() values. In an interlaced image, each row is read once in each
  // of its passes(), and `row` must hold the result of the passes before.
  void read_row(std::uint8_t* row);
  int passes() const noexcept { return passes_; }
  // Returns the offset up to which the file was read, for errors.
  std::uint64_t offset() const noexcept { return stream_.offset(); }
  // Checks that no more pixels follow, and checks the checksum of all pixels. Call it after the last row.
  void finish();

 private:
  static Reader& of(png_structp png) { return *static_cast<Reader*>(png_get_error_ptr(png)); }
  [[noreturn]] static void on_error(png_structp png, png_const_charp message);
  static void on_warning(png_structp png, png_const_charp message);
  static png_voidp on_allocate(png_structp png, png_alloc_size_t bytes);
  static void on_free(png_structp png, png_voidp memory);
  static void on_read(png_structp png, png_bytep to, std::size_t bytes);
  void check_kind() const;
  void check_size() const;
  void read_palette();
  bool has_color() const noexcept;
  bool has_alpha() const noexcept;
  bool keeps_alpha() const noexcept;

  PngOptions options_;
  Header header_;
  ChunkStream stream_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  int passes_ = 1;
  std::array<std::array<std::uint8_t, 4>, 256> colors_{};
  std::size_t color_count_ = 0;
  bool out_of_memory_ = false;
};

}  // namespace penstock::png
