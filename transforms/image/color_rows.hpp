// SPDX-License-Identifier: Apache-2.0
// Changes colours on planes of 8-bit values. There is one version per instruction set. All versions make the same bits.
#pragma once

#include <cstddef>
#include <cstdint>

namespace penstock::image {

// Number of values in one plane of a block. It is a multiple of a vector's size. Kernels work on whole vectors, so they
// read and write up to 63 values after the first `count` values.
inline constexpr std::size_t color_block = 1024;

// R, G and B of up to color_block pixels, each 64-byte aligned.
struct ColorPlanes {
  std::uint8_t *r, *g, *b;
};

struct ColorRowKernels {
  // Sets each value v to toward + factor (v - toward).
  void (*blend)(std::uint8_t* values, std::size_t count, float factor, float toward);
  // Sets each value v to grey + factor (v - grey), with each pixel's own grey.
  void (*blend_gray)(const ColorPlanes& planes, std::size_t count, float factor);
  void (*turn_hue)(const ColorPlanes& planes, std::size_t count, float sixths);
  // Returns the sum of greys. REQUIRES: the values after the first `count` values are 0.
  std::uint64_t (*sum_gray)(const ColorPlanes& planes, std::size_t count);
  void (*merge)(const ColorPlanes& planes, std::size_t count, std::uint8_t* pixels);
};
ColorRowKernels color_rows();

}  // namespace penstock::image
