// One PNG being read from memory: libpng's structs, its callbacks, and checks of what the header declares.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <png.h>

#include "chunks.hpp"

namespace penstock::png {

// Callbacks throw: the C frames they pass hold nothing that needs cleaning up, and what libpng allocated goes with the
// struct.
class Reader {
 public:
  // Checks everything but the pixels. @throws as ImageDecoding::open.
  Reader(std::span<const std::byte> encoded, const PngOptions& options);
  ~Reader();
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  ImageShape shape() const noexcept;
  bool interlaced() const noexcept { return header_.interlaced; }
  // Values of a pixel in the rows that libpng gives: 1 for indices of a palette, 3 for colours that become `gray`, else
  // shape's.
  int row_channels() const noexcept;

  // Bytes of a value in those rows: 1, or 2 in the machine's order.
  std::size_t value_bytes() const noexcept { return header_.depth == 16 && options_.dtype == DType::u16 ? 2 : 1; }
  // What a value of 1 byte is multiplied with where the result's have 2.
  std::uint16_t widening() const noexcept { return options_.color == PngOptions::labels ? 1 : 257; }

  // Rows are to be taken for indices of colors().
  bool indexed() const noexcept { return header_.color == palette && options_.color != PngOptions::labels; }
  // RGB and opacity of each index, once started.
  std::span<const std::array<std::uint8_t, 4>> colors() const noexcept { return {colors_.data(), color_count_}; }

  // Gets ready to read rows, once.
  void start();
  // The next row, of shape().width * row_channels() values; of an interlaced image, again for each of its passes(), and
  // `row` holds what the passes before made of it.
  void read_row(std::uint8_t* row);
  int passes() const noexcept { return passes_; }
  // How far it has read in the file, for errors.
  std::uint64_t offset() const noexcept { return stream_.offset(); }
  // Called after the last row: checks that the pixels end there, and their sum.
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
