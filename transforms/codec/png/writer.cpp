// SPDX-License-Identifier: Apache-2.0
#include "writer.hpp"

#include <bit>
#include <cstddef>
#include <string>

#include <penstock/error.hpp>

namespace penstock::png {

Writer::Writer(EncodedFile& out, Scratch& scratch) : out_(out), scratch_(scratch) {
  png_ = png_create_write_struct_2(PNG_LIBPNG_VER_STRING, this, on_error, on_warning, this, on_allocate,
                                   [](png_structp, png_voidp) {});
  if (png_ != nullptr) info_ = png_create_info_struct(png_);
  if (info_ == nullptr) throw Error(Errc::out_of_memory, "no memory for a PNG encoder");
  png_set_write_fn(png_, this, on_write, [](png_structp) {});
  png_set_user_limits(png_, 0x7fffffff, 0x7fffffff);
}

void Writer::write(const Pixels& pixels, int compression) {
  const ImageShape& shape = pixels.shape;
  constexpr int colors[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB, PNG_COLOR_TYPE_RGBA};
  const bool wide = shape.element == DType::u16;
  png_set_IHDR(png_, info_, static_cast<png_uint_32>(shape.width), static_cast<png_uint_32>(shape.height),
               wide ? 16 : 8, colors[shape.channels - 1], PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
               PNG_FILTER_TYPE_DEFAULT);
  png_set_compression_level(png_, compression);
  png_write_info(png_, info_);
  if (wide && std::endian::native == std::endian::little) png_set_swap(png_);
  for (std::int32_t y = 0; y < shape.height; ++y) png_write_row(png_, pixels.data + y * pixels.stride);
  png_write_end(png_, nullptr);
}

void Writer::on_error(png_structp, png_const_charp message) {
  throw Error(Errc::invalid_argument, "libpng: " + std::string(message));
}

// libpng warns only of an image that a PNG can't hold, so a warning is an error.
void Writer::on_warning(png_structp png, png_const_charp message) { on_error(png, message); }

png_voidp Writer::on_allocate(png_structp png, png_alloc_size_t bytes) {
  return static_cast<Writer*>(png_get_mem_ptr(png))->scratch_.allocate(bytes);
}

void Writer::on_write(png_structp png, png_bytep from, std::size_t bytes) {
  static_cast<Writer*>(png_get_io_ptr(png))->out_.append({reinterpret_cast<const std::byte*>(from), bytes});
}

}  // namespace penstock::png
