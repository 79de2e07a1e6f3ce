// SPDX-License-Identifier: Apache-2.0
#include "margin.hpp"

#include <cstdint>
#include <cstring>

namespace penstock::image {

namespace {

// Returns which of `size` pixels a reflecting margin shows at `at`, a position before, in or after the pixels.
std::int32_t reflected(std::int32_t at, std::int32_t size) {
  if (at < 0) return -at;
  return at < size ? at : 2 * size - 2 - at;
}

// Writes `count` copies of a pixel.
void fill_row(std::byte* out, std::int32_t count, const std::byte* pixel, std::size_t bytes) {
  for (std::int32_t x = 0; x < count; ++x) std::memcpy(out + static_cast<std::size_t>(x) * bytes, pixel, bytes);
}

}  // namespace

void write_with_margin(const Pixels& pixels, const Padding& margin, std::byte* out) {
  const ImageShape& shape = pixels.shape;
  const std::size_t bytes = shape.pixel_bytes();
  const std::int32_t width = margin.left + shape.width + margin.right;
  const std::size_t row = static_cast<std::size_t>(width) * bytes;
  const bool reflects = margin.mode == Padding::Mode::reflect;
  std::byte color[4 * sizeof(std::uint16_t)];
  for (std::size_t c = 0; c < static_cast<std::size_t>(shape.channels); ++c) {
    if (shape.element == DType::u16) {
      std::memcpy(color + 2 * c, &margin.fill[c], 2);
    } else {
      color[c] = static_cast<std::byte>(margin.fill[c]);
    }
  }
  for (std::int32_t y = -margin.top; y < shape.height + margin.bottom; ++y, out += row) {
    if (!reflects && (y < 0 || y >= shape.height)) {
      fill_row(out, width, color, bytes);
      continue;
    }
    const auto* from = reinterpret_cast<const std::byte*>(pixels.data + reflected(y, shape.height) * pixels.stride);
    std::byte* const inner = out + static_cast<std::size_t>(margin.left) * bytes;
    std::byte* const after = inner + static_cast<std::size_t>(shape.width) * bytes;
    std::memcpy(inner, from, static_cast<std::size_t>(shape.width) * bytes);
    if (!reflects) {
      fill_row(out, margin.left, color, bytes);
      fill_row(after, margin.right, color, bytes);
      continue;
    }
    const auto pixel = [&](std::int32_t x) {
      return from + static_cast<std::size_t>(reflected(x, shape.width)) * bytes;
    };
    for (std::int32_t k = 0; k < margin.left; ++k)
      std::memcpy(out + static_cast<std::size_t>(k) * bytes, pixel(k - margin.left), bytes);
    for (std::int32_t k = 0; k < margin.right; ++k)
      std::memcpy(after + static_cast<std::size_t>(k) * bytes, pixel(shape.width + k), bytes);
  }
}

}  // namespace penstock::image
