// SPDX-License-Identifier: Apache-2.0
// libpng reads a PNG from memory: its structs and its callbacks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <png.h>

#include "chunks.hpp"
#include "layout.hpp"

namespace penstock::png {

// Callbacks may throw through libpng's C code. Its frames hold nothing that needs cleaning up, and ~Reader() frees the
// memory that libpng allocated.
class Reader {
 public:
  // Prepares to read rows. @throws Error(corrupt), for what libpng finds before the pixels; Error(out_of_memory).
  Reader(std::span<const std::byte> encoded, const Layout& layout);
  ~Reader();
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  // Reads the next row, as Layout describes it. In an interlaced image, each row is read once in each of its passes(),
  // and `row` must hold the result of the passes before.
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
  void start(const Layout& layout);
  void free() noexcept;

  ChunkStream stream_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  int passes_ = 1;
  bool out_of_memory_ = false;
};

}  // namespace penstock::png
