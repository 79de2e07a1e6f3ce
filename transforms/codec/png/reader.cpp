// SPDX-License-Identifier: Apache-2.0
#include "reader.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <string>

#include <penstock/error.hpp>
#include <penstock/stages/on_error.hpp>

namespace penstock::png {

namespace {

std::string pixels_text(const Header& header) {
  return std::to_string(header.width) + "x" + std::to_string(header.height);
}

std::string one_line(png_const_charp message) {
  std::string line(message);
  for (char& c : line)
    if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) > 0x7e) c = ' ';
  return line;
}

}  // namespace

Reader::Reader(std::span<const std::byte> encoded, const PngOptions& options)
    : options_(options), header_(check_chunks(encoded)), stream_(encoded, header_, keeps_alpha()) {
  check_kind();
  check_size();
}

Reader::~Reader() {
  if (png_ != nullptr) png_destroy_read_struct(&png_, &info_, nullptr);
}

bool Reader::has_color() const noexcept { return header_.color != png::gray && header_.color != gray_alpha; }
bool Reader::has_alpha() const noexcept { return header_.color == gray_alpha || header_.color == png::rgba; }
bool Reader::keeps_alpha() const noexcept {
  return options_.color == PngOptions::rgba || options_.color == PngOptions::as_stored;
}

ImageShape Reader::shape() const noexcept {
  int channels = 1;
  if (options_.color == PngOptions::rgb) channels = 3;
  if (options_.color == PngOptions::rgba) channels = 4;
  if (options_.color == PngOptions::as_stored)
    channels = (has_color() ? 3 : 1) + (has_alpha() || header_.transparency ? 1 : 0);
  return {static_cast<std::int32_t>(header_.height), static_cast<std::int32_t>(header_.width), channels,
          options_.dtype};
}

int Reader::row_channels() const noexcept {
  if (header_.color == palette) return 1;
  return options_.color == PngOptions::gray && has_color() ? 3 : shape().channels;
}

void Reader::check_kind() const {
  if (options_.color == PngOptions::labels) {
    if (header_.color != png::gray && header_.color != palette)
      throw Error(Errc::unsupported, "the PNG has colours or opacity, but labels are palette indices or grey values");
    if (header_.depth == 16 && options_.dtype == DType::u8)
      throw Error(Errc::unsupported,
                  "the PNG has labels of 16 bits, which do not fit into 8; `dtype = u16` keeps them as they are");
  } else if (header_.depth == 16 && options_.dtype == DType::u8 && !options_.high_byte) {
    throw Error(
        Errc::unsupported,
        "a PNG of 16 bits does not fit into 8; `dtype = u16` keeps its values, `high_byte = true` the upper half "
        "of each; where it is a mask, `color = labels` with `dtype = u16` reads it");
  }
}

void Reader::check_size() const {
  const std::uint64_t pixels = std::uint64_t{header_.width} * header_.height;
  if (pixels > options_.max_pixels)
    throw Error(Errc::limit_exceeded, "the PNG declares " + pixels_text(header_) +
                                          " pixels, above max_pixels = " + std::to_string(options_.max_pixels));
  // Deflate makes at most 258 bytes from 2 bits. This check limits the work that a small file can cause.
  constexpr std::uint64_t most = 1032;
  const std::uint64_t samples = header_.color == png::rgb     ? 3
                                : header_.color == gray_alpha ? 2
                                : header_.color == png::rgba  ? 4
                                                              : 1;
  // Computes pixels * bits / 8 / most without the product of pixels and bits, which may be too large.
  const std::uint64_t bits = samples * header_.depth, each = 8 * most;
  if (pixels / each * bits + pixels % each * bits / each > header_.bytes)
    throw Error(Errc::corrupt, "the PNG declares " + pixels_text(header_) + " pixels, which can't be in its " +
                                   std::to_string(header_.bytes) + " bytes of them")
        .with_offset(header_offset);
}

void Reader::start() {
  png_ = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, this, on_error, on_warning, this, on_allocate, on_free);
  if (png_ == nullptr) throw Error(Errc::out_of_memory, "no memory for a PNG decoder");
  info_ = png_create_info_struct(png_);
  if (info_ == nullptr) throw Error(Errc::out_of_memory, "no memory for a PNG decoder");
  png_set_read_fn(png_, this, on_read);
  // check_chunks() has checked the chunks' checksums already, and check_size() the image's size.
  png_set_crc_action(png_, PNG_CRC_QUIET_USE, PNG_CRC_QUIET_USE);
  png_set_user_limits(png_, 0x7fffffff, 0x7fffffff);
  png_set_benign_errors(png_, 0);
  png_read_info(png_, info_);
  if (header_.depth == 16 && value_bytes() == 1) png_set_strip_16(png_);
  if (value_bytes() == 2 && std::endian::native == std::endian::little) png_set_swap(png_);
  if (options_.color == PngOptions::labels || header_.color == palette) {
    png_set_packing(png_);
    // If indices become colours, look_up() checks them. libpng would check them too late, and not for a part of an
    // image. Indices that are labels need no check.
    png_set_check_for_invalid_index(png_, 0);
    read_palette();
  } else {
    if (header_.color == png::gray && header_.depth < 8) png_set_expand_gray_1_2_4_to_8(png_);
    const bool transparency = keeps_alpha() && header_.transparency;
    if (transparency) png_set_tRNS_to_alpha(png_);
    if (has_alpha() && !keeps_alpha()) png_set_strip_alpha(png_);
    if (options_.color == PngOptions::rgba && !has_alpha() && !transparency)
      png_set_add_alpha(png_, value_bytes() == 2 ? 0xffff : 0xff, PNG_FILLER_AFTER);
    if (options_.color == PngOptions::rgb || options_.color == PngOptions::rgba) png_set_gray_to_rgb(png_);
  }
  passes_ = png_set_interlace_handling(png_);
  png_read_update_info(png_, info_);
  const auto wanted =
      static_cast<std::size_t>(header_.width) * static_cast<std::size_t>(row_channels()) * value_bytes();
  if (png_get_rowbytes(png_, info_) != wanted)
    throw Error(Errc::unsupported, "libpng can't make the channels that are asked for of this PNG");
}

void Reader::read_palette() {
  png_colorp colors = nullptr;
  int count = 0;
  if (!indexed() || png_get_PLTE(png_, info_, &colors, &count) == 0) return;
  color_count_ = static_cast<std::size_t>(count);
  for (std::size_t i = 0; i < color_count_; ++i) colors_[i] = {colors[i].red, colors[i].green, colors[i].blue, 255};
  png_bytep opacity = nullptr;
  if (png_get_tRNS(png_, info_, &opacity, &count, nullptr) == 0) return;
  for (std::size_t i = 0; i < std::min(color_count_, static_cast<std::size_t>(count)); ++i) colors_[i][3] = opacity[i];
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
