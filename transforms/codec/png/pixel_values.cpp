// SPDX-License-Identifier: Apache-2.0
#include "pixel_values.hpp"

#include <algorithm>
#include <cstring>

namespace penstock::png {

namespace {

template <class T>
T gray_of(std::uint32_t r, std::uint32_t g, std::uint32_t b) {
  return static_cast<T>((19595 * r + 38470 * g + 7471 * b + 32768) >> 16);
}

// Converts a value of 8 bits to T.
template <class T>
struct Value {
  std::uint16_t widening = 1;
  T operator()(std::uint8_t value) const {
    return sizeof(T) == 1 ? static_cast<T>(value) : static_cast<T>(value * widening);
  }
};

// Makes the values of a pixel of RGB and opacity.
template <class T>
void make_pixel(const Layout& layout, const std::uint8_t (&color)[4], std::array<T, 4>& pixel) {
  const Value<T> value{layout.widening()};
  for (std::size_t c = 0; c < 4; ++c) pixel[c] = value(color[c]);
  if (layout.is_gray()) pixel[0] = gray_of<T>(pixel[0], pixel[1], pixel[2]);
}

template <int Channels, class T>
void look_up(const std::array<std::array<T, 4>, 256>& pixels, const std::uint8_t* indices, std::int32_t width, T* out) {
  for (std::int32_t x = 0; x < width; ++x, out += Channels)
    std::memcpy(out, pixels[indices[x]].data(), Channels * sizeof(T));
}

template <class T>
void look_up(int channels, const std::array<std::array<T, 4>, 256>& pixels, const std::uint8_t* indices,
             std::int32_t width, T* out) {
  switch (channels) {
    case 1:
      return look_up<1>(pixels, indices, width, out);
    case 3:
      return look_up<3>(pixels, indices, width, out);
    default:
      return look_up<4>(pixels, indices, width, out);
  }
}

bool has_all(const Palette& palette, const std::uint8_t* indices, std::int32_t width) {
  std::uint8_t most = 0;
  for (std::int32_t x = 0; x < width; ++x) most = std::max(most, indices[x]);
  return most < palette.size;
}

// Converts pixels of a row, which has values of type From, to pixels of the image.
template <class From, class T>
void take_values(const Layout& layout, const From* from, std::int32_t width, T* out) {
  const int channels = layout.shape().channels, row_channels = layout.row_channels();
  const auto value = [widen = Value<T>{layout.widening()}](From v) {
    if constexpr (sizeof(From) == sizeof(T)) {
      return v;
    } else {
      return widen(v);
    }
  };
  if (row_channels == channels) {
    const std::ptrdiff_t values = std::ptrdiff_t{width} * channels;
    for (std::ptrdiff_t i = 0; i < values; ++i) out[i] = value(from[i]);
  } else {
    for (std::int32_t x = 0; x < width; ++x, from += 3)
      out[x] = gray_of<T>(value(from[0]), value(from[1]), value(from[2]));
  }
}

}  // namespace

bool read_palette(std::span<const std::byte> encoded, const Layout& layout, Palette& palette) {
  const Header& header = layout.header();
  palette.size = 0;
  if (!layout.indexed()) return true;
  // libpng leaves out colours that no index can have.
  palette.size = std::min(header.palette_bytes / 3, std::size_t{1} << header.depth);
  const bool transparency = layout.keeps_alpha() && header.transparency;
  if (transparency && header.transparency_bytes > palette.size) return false;
  const auto* const colors = reinterpret_cast<const std::uint8_t*>(encoded.data() + header.palette_at);
  const auto* const opacity = reinterpret_cast<const std::uint8_t*>(encoded.data() + header.transparency_at);
  for (std::size_t i = 0; i < palette.size; ++i) {
    const bool opaque = !transparency || i >= header.transparency_bytes;
    const std::uint8_t color[4] = {colors[3 * i], colors[3 * i + 1], colors[3 * i + 2],
                                   opaque ? std::uint8_t{255} : opacity[i]};
    if (layout.shape().element == DType::u16) {
      make_pixel(layout, color, palette.words[i]);
    } else {
      make_pixel(layout, color, palette.bytes[i]);
    }
  }
  return true;
}

bool take_pixels(const Layout& layout, const Palette& palette, const std::uint8_t* row, std::int32_t left,
                 std::int32_t width, std::uint8_t* out) {
  const std::size_t pixel = static_cast<std::size_t>(layout.row_channels()) * layout.value_bytes();
  const std::uint8_t* from = row + static_cast<std::size_t>(left) * pixel;
  const bool wide = layout.shape().element == DType::u16;
  // The casts are safe for u16: rows are in scratch, whose memory is aligned, or in the caller's u16 image.
  auto* const values = reinterpret_cast<std::uint16_t*>(out);
  if (layout.indexed()) {
    if (!has_all(palette, from, width)) return false;
    if (wide) {
      look_up(layout.shape().channels, palette.words, from, width, values);
    } else {
      look_up(layout.shape().channels, palette.bytes, from, width, out);
    }
  } else if (!wide) {
    if (layout.rows_are_image()) {
      std::memcpy(out, from, static_cast<std::size_t>(width) * pixel);
    } else {
      take_values(layout, from, width, out);
    }
  } else if (layout.value_bytes() == 1) {
    take_values(layout, from, width, values);
  } else {
    take_values(layout, reinterpret_cast<const std::uint16_t*>(from), width, values);
  }
  return true;
}

std::uint8_t missing_color(const Palette& palette, const std::uint8_t* row, std::int32_t left, std::int32_t width) {
  return *std::find_if(row + left, row + left + width, [&](std::uint8_t index) { return index >= palette.size; });
}

}  // namespace penstock::png
