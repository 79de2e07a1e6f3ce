// SPDX-License-Identifier: Apache-2.0
// The arithmetic of mixup, cutmix and random_erasing, for the host and for kernels, with the same bits.
#pragma once

#include <cstdint>

#include <penstock/extend/bfloat16.hpp>
#include <penstock/extend/half.hpp>
#include <penstock/extend/host_device.hpp>

#ifdef __CUDACC__
#include <cuda_fp16.h>
#endif

namespace penstock::image {

// -- numbers --

struct Binary32 {
  using Element = float;
  PENSTOCK_HOST_DEVICE static float value(Element element) { return element; }
  PENSTOCK_HOST_DEVICE static Element of(float value) { return value; }
};

struct Binary16 {
  using Element = std::uint16_t;
  PENSTOCK_HOST_DEVICE static float value(Element element) {
#ifdef __CUDA_ARCH__
    return __half2float(__ushort_as_half(element));
#else
    return from_half(element);
#endif
  }
  PENSTOCK_HOST_DEVICE static Element of(float value) {
#ifdef __CUDA_ARCH__
    return __half_as_ushort(__float2half_rn(value));
#else
    return to_half(value);
#endif
  }
};

struct Brain16 {
  using Element = std::uint16_t;
  PENSTOCK_HOST_DEVICE static float value(Element element) {
#ifdef __CUDA_ARCH__
    return __uint_as_float(static_cast<std::uint32_t>(element) << 16);
#else
    return from_bfloat16(element);
#endif
  }
  PENSTOCK_HOST_DEVICE static Element of(float value) {
#ifdef __CUDA_ARCH__
    const std::uint32_t bits = __float_as_uint(value);
    return static_cast<Element>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
#else
    return to_bfloat16(value);
#endif
  }
};

// -- boxes --

// Rows [top, bottom) and columns [left, right) of an image.
struct PixelBox {
  std::int32_t top = 0, left = 0, bottom = 0, right = 0;
  PENSTOCK_HOST_DEVICE bool has(std::int32_t y, std::int32_t x) const {
    return y >= top && y < bottom && x >= left && x < right;
  }
};

// Returns `part` / 2^32 of `whole`, rounded down.
PENSTOCK_HOST_DEVICE inline std::int32_t part_of(std::uint32_t part, std::int32_t whole) {
  return static_cast<std::int32_t>(static_cast<std::uint64_t>(part) * static_cast<std::uint32_t>(whole) >> 32);
}

// -- pairs of rows --

// What mixup draws for a row. `live`: 0 if the row is masked or padding, so that all its draws are zeros.
struct MixDraw {
  float share;  // of the row itself
  std::uint32_t live;
};

// What cutmix draws for a row. `half_side`: half of the box's height / H, and of its width / W. `row` and `column`: the
// pixel at the box's centre, in parts of 2^32 of H and W.
struct CutDraw {
  float half_side;
  std::uint32_t row, column;
  std::uint32_t live;
};

// Returns whether a row is mixed with row ^ 1.
template <class Draw>
PENSTOCK_HOST_DEVICE bool has_neighbour(const Draw* draws, std::uint64_t rows, std::uint64_t row) {
  const std::uint64_t other = row ^ 1;
  return other < rows && draws[row].live != 0 && draws[other].live != 0;
}

// Returns the draw of a row's pair: that of its lower row.
template <class Draw>
PENSTOCK_HOST_DEVICE const Draw& draw_of_pair(const Draw* draws, std::uint64_t row) {
  return draws[row & ~std::uint64_t{1}];
}

PENSTOCK_HOST_DEVICE inline float mixed(float own, float other, float share) {
  return exact::sum(exact::product(share, own), exact::product(exact::sum(1, -share), other));
}

// Returns the box that cutmix takes from the neighbour.
PENSTOCK_HOST_DEVICE inline PixelBox cut_box(const CutDraw& draw, std::int32_t height, std::int32_t width) {
  const std::int32_t y = part_of(draw.row, height), x = part_of(draw.column, width);
  const auto half_height = static_cast<std::int32_t>(exact::product(draw.half_side, static_cast<float>(height)));
  const auto half_width = static_cast<std::int32_t>(exact::product(draw.half_side, static_cast<float>(width)));
  return {y > half_height ? y - half_height : 0, x > half_width ? x - half_width : 0,
          height - y > half_height ? y + half_height : height, width - x > half_width ? x + half_width : width};
}

// Returns the share of pixels that are outside of the box.
PENSTOCK_HOST_DEVICE inline float share_outside(const PixelBox& box, std::int32_t height, std::int32_t width) {
  const std::int64_t all = std::int64_t{height} * width;
  const std::int64_t outside = all - std::int64_t{box.bottom - box.top} * (box.right - box.left);
  return exact::quotient(static_cast<float>(outside), static_cast<float>(all));
}

}  // namespace penstock::image
