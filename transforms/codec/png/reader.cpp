// SPDX-License-Identifier: Apache-2.0
#include "reader.hpp"

#include <bit>
#include <cstdlib>
#include <string>

#include <penstock/error.hpp>

namespace penstock::png {

namespace {

std::string one_line(png_const_charp message) {
  std::string line(message);
  for (char& c : line)
    if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) > 0x7e) c = ' ';
  return line;
}

}  // namespace

Reader::Reader(std::span<const std::byte> encoded, const Layout& layout)
    : stream_(encoded, layout.header(), layout.keeps_alpha()) {
  try {
    start(layout);
  } catch (...) {
    free();
    throw;
  }
}

Reader::~Reader() { free(); }

void Reader::free() noexcept {
  if (png_ != nullptr) png_destroy_read_struct(&png_, &info_, nullptr);
}

void Reader::start(const Layout& layout) {
  const Header& header = layout.header();
  png_ = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, this, on_error, on_warning, this, on_allocate, on_free);
  if (png_ == nullptr) throw Error(Errc::out_of_memory, "no memory for a PNG decoder");
  info_ = png_create_info_struct(png_);
  if (info_ == nullptr) throw Error(Errc::out_of_memory, "no memory for a PNG decoder");
  png_set_read_fn(png_, this, on_read);
  // check_chunks() has checked the chunks' checksums already, and Layout the image's size.
  png_set_crc_action(png_, PNG_CRC_QUIET_USE, PNG_CRC_QUIET_USE);
  png_set_user_limits(png_, 0x7fffffff, 0x7fffffff);
  png_set_benign_errors(png_, 0);
  png_read_info(png_, info_);
  if (header.depth == 16 && layout.value_bytes() == 1) png_set_strip_16(png_);
  if (layout.value_bytes() == 2 && std::endian::native == std::endian::little) png_set_swap(png_);
  if (layout.is_labels() || header.color == palette) {
    png_set_packing(png_);
    // take_pixels() checks indices that become colours. libpng would check them too late, and not for a part of an
    // image. Indices that are labels need no check.
    png_set_check_for_invalid_index(png_, 0);
  } else {
    if (header.color == png::gray && header.depth < 8) png_set_expand_gray_1_2_4_to_8(png_);
    const bool transparency = layout.keeps_alpha() && header.transparency;
    if (transparency) png_set_tRNS_to_alpha(png_);
    if (layout.has_alpha() && !layout.keeps_alpha()) png_set_strip_alpha(png_);
    if (layout.adds_alpha() && !layout.has_alpha() && !transparency)
      png_set_add_alpha(png_, layout.value_bytes() == 2 ? 0xffff : 0xff, PNG_FILLER_AFTER);
    if (layout.wants_colors()) png_set_gray_to_rgb(png_);
  }
  passes_ = png_set_interlace_handling(png_);
  png_read_update_info(png_, info_);
  if (png_get_rowbytes(png_, info_) != layout.row_bytes())
    throw Error(Errc::unsupported, "libpng can't make the channels that are asked for of this PNG");
}

void Reader::read_row(std::uint8_t* row) { png_read_row(png_, row, nullptr); }

void Reader::finish() { png_read_end(png_, nullptr); }

void Reader::on_error(png_structp png, png_const_charp message) {
  Reader& reader = of(png);
  if (reader.out_of_memory_) throw Error(Errc::out_of_memory, "no memory for a row of a PNG");
  throw Error(Errc::corrupt, "libpng: " + one_line(message)).with_offset(reader.stream_.offset());
}

void Reader::on_warning(png_structp png, png_const_charp message) {
  throw Error(Errc::corrupt, "libpng warns: " + one_line(message)).with_offset(of(png).stream_.offset());
}

png_voidp Reader::on_allocate(png_structp png, png_alloc_size_t bytes) {
  void* const memory = std::malloc(bytes);
  if (memory == nullptr) static_cast<Reader*>(png_get_mem_ptr(png))->out_of_memory_ = true;
  return memory;
}

void Reader::on_free(png_structp, png_voidp memory) { std::free(memory); }

void Reader::on_read(png_structp png, png_bytep to, std::size_t bytes) {
  static_cast<Reader*>(png_get_io_ptr(png))->stream_.read(reinterpret_cast<std::byte*>(to), bytes);
}

}  // namespace penstock::png
