// SPDX-License-Identifier: Apache-2.0
#include "layout.hpp"

#include <string>

#include <penstock/error.hpp>

namespace penstock::png {

namespace {

std::string pixels_text(const Header& header) {
  return std::to_string(header.width) + "x" + std::to_string(header.height);
}

}  // namespace

Layout::Layout(const Header& header, const PngOptions& options) : header_(header), options_(options) {
  check_kind();
  check_size();
}

ImageShape Layout::shape() const noexcept {
  int channels = 1;
  if (options_.color == PngOptions::rgb) channels = 3;
  if (options_.color == PngOptions::rgba) channels = 4;
  if (options_.color == PngOptions::as_stored)
    channels = (has_color() ? 3 : 1) + (has_alpha() || header_.transparency ? 1 : 0);
  return {static_cast<std::int32_t>(header_.height), static_cast<std::int32_t>(header_.width), channels,
          options_.dtype};
}

int Layout::row_channels() const noexcept {
  if (header_.color == palette) return 1;
  return is_gray() && has_color() ? 3 : shape().channels;
}

bool Layout::rows_are_image() const noexcept {
  return !indexed() && row_channels() == shape().channels && value_bytes() == size_of(options_.dtype);
}

void Layout::check_kind() const {
  if (is_labels()) {
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

void Layout::check_size() const {
  const std::uint64_t pixels = std::uint64_t{header_.width} * header_.height;
  if (pixels > options_.max_pixels)
    throw Error(Errc::limit_exceeded, "the PNG declares " + pixels_text(header_) +
                                          " pixels, above max_pixels = " + std::to_string(options_.max_pixels));
  // Deflate makes at most 258 bytes from 2 bits. This check limits the work that a small file can cause.
  constexpr std::uint64_t most = 1032;
  // Computes pixels * bits / 8 / most without the product of pixels and bits, which may be too large.
  const std::uint64_t bits = header_.pixel_bits(), each = 8 * most;
  if (pixels / each * bits + pixels % each * bits / each > header_.bytes)
    throw Error(Errc::corrupt, "the PNG declares " + pixels_text(header_) + " pixels, which can't be in its " +
                                   std::to_string(header_.bytes) + " bytes of them")
        .with_offset(header_offset);
}

}  // namespace penstock::png
