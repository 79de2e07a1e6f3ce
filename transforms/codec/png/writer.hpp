// SPDX-License-Identifier: Apache-2.0
// One PNG being written: libpng's structs and its callbacks.
#pragma once

#include <png.h>

#include <penstock/extend/image_encoder.hpp>

namespace penstock::png {

// Callbacks may throw through libpng's C code. Its frames hold nothing that needs cleaning up. What libpng and zlib
// allocate is in `scratch`, so nothing frees it here.
class Writer {
 public:
  // `out` and `scratch` must outlive the writer.
  Writer(EncodedFile& out, Scratch& scratch);
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  // Writes a complete file. Call it once.
  void write(const Pixels& pixels, int compression);

 private:
  [[noreturn]] static void on_error(png_structp png, png_const_charp message);
  static void on_warning(png_structp png, png_const_charp message);
  static png_voidp on_allocate(png_structp png, png_alloc_size_t bytes);
  static void on_write(png_structp png, png_bytep from, std::size_t bytes);

  EncodedFile& out_;
  Scratch& scratch_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
};

}  // namespace penstock::png
