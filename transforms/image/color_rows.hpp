// Changes of colour on planes of 8-bit values, one version per instruction set, all with the same bits.
#pragma once

#include <cstddef>
#include <cstdint>

namespace penstock::image {

// Values in one plane of a block. Kernels work on whole vectors, of which this is a multiple, so up to 63 values after
// the count are read and written.
inline constexpr std::size_t color_block = 1024;

// R, G and B of up to color_block pixels, each 64-byte aligned.
struct ColorPlanes {
  std::uint8_t *r, *g, *b;
};

struct ColorRows {
  // v = toward + factor (v - toward).
  void (*blend)(std::uint8_t* values, std::size_t count, float factor, float toward);
  // v = grey + factor (v - grey), with each pixel's own grey.
  void (*blend_gray)(const ColorPlanes& planes, std::size_t count, float factor);
  void (*turn_hue)(const ColorPlanes& planes, std::size_t count, float sixths);
  // Sum of greys. Values after the count are 0.
  std::uint64_t (*sum_gray)(const ColorPlanes& planes, std::size_t count);
  void (*merge)(const ColorPlanes& planes, std::size_t count, std::uint8_t* pixels);
};
ColorRows color_rows();

}  // namespace penstock::image
