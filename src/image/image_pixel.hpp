// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <penstock/extend/bfloat16.hpp>
#include <penstock/extend/half.hpp>
#include <penstock/extend/host_device.hpp>

namespace penstock::detail {

/// The operation on one image of a batch: the part of its ImageOp that does not resample. Plain data for a kernel. If
/// all members are zero, a result of floats is zeros. A result of u8 is then copied from the upper left corner of the
/// image.
struct alignas(16) PixelOp {
  enum : std::uint32_t { transpose = 1, flip_x = 2, flip_y = 4, reflect = 8 };
  std::int32_t top = 0, left = 0;  ///< upper left corner of the box in the image; box and margin become the result
  std::uint32_t turns = 0;
  float scale[4] = {}, bias[4] = {};  ///< factor and offset of each channel, if the result is not u8
  std::int32_t above = 0, before = 0, below = 0, after = 0;  ///< rows and columns of the margin around the box
  std::uint8_t fill[4] = {};                                 ///< colour of the margin, if the margin does not reflect
};

/// The input images and results of a batch, as a kernel gets them. A row of an input image has less than 4 GiB.
struct PixelWork {
  enum class Result : std::uint8_t { u8, f16, bf16, f32 };
  const std::uint8_t* in = nullptr;  ///< [N, in_height, in_width, channels]
  void* out = nullptr;
  const PixelOp* ops = nullptr;  ///< [N]
  std::uint64_t images = 0;      ///< N
  std::int32_t in_height = 0, in_width = 0, channels = 0, height = 0,
               width = 0;  ///< `height` and `width` are the size of the result
  Result result = Result::u8;
  bool planar = false;  ///< true: `out` is [N, channels, height, width]; false: [N, height, width, channels]
};

/// Returns value * scale + bias. Product and sum are rounded separately, without a fused multiply-add, so that GPUs
/// return the same bits as CPUs.
PENSTOCK_HOST_DEVICE inline float scaled(float value, float scale, float bias) {
  return exact::sum(exact::product(value, scale), bias);
}

/// Returns `at` if it is a pixel of an axis of `size` pixels. Otherwise, returns the pixel whose reflection is at `at`.
PENSTOCK_HOST_DEVICE inline std::int32_t reflected(std::int32_t at, std::int32_t size) {
  if (at < 0) return -at;
  return at < size ? at : 2 * size - 2 - at;
}

/// Where a pixel of the result comes from.
struct PixelPlace {
  std::int32_t y, x;  ///< position in the image
  bool filled;        ///< true if the pixel has the margin's colour; `y` and `x` have no meaning then
};
PENSTOCK_HOST_DEVICE inline PixelPlace place_of_pixel(const PixelWork& work, const PixelOp& op, std::int32_t y,
                                                      std::int32_t x) {
  // Goes back from the result: undoes the flips first, then the transpose.
  std::int32_t from_y = (op.turns & PixelOp::flip_y) != 0 ? work.height - 1 - y : y;
  std::int32_t from_x = (op.turns & PixelOp::flip_x) != 0 ? work.width - 1 - x : x;
  const bool turned = (op.turns & PixelOp::transpose) != 0;
  if (turned) {
    const std::int32_t swapped = from_y;
    from_y = from_x;
    from_x = swapped;
  }
  const std::int32_t box_height = (turned ? work.width : work.height) - op.above - op.below;
  const std::int32_t box_width = (turned ? work.height : work.width) - op.before - op.after;
  from_y -= op.above;
  from_x -= op.before;
  const bool outside = from_y < 0 || from_y >= box_height || from_x < 0 || from_x >= box_width;
  if (outside) {
    from_y = reflected(from_y, box_height);
    from_x = reflected(from_x, box_width);
  }
  return {op.top + from_y, op.left + from_x, outside && (op.turns & PixelOp::reflect) == 0};
}

/// Finds the bytes of pixels in one image of `PixelWork::in`.
struct ImageBytes {
  const std::uint8_t* first;
  std::uint32_t row, pixel;  ///< bytes of one row and of one pixel

  PENSTOCK_HOST_DEVICE ImageBytes(const PixelWork& work, std::uint64_t image)
      : row(static_cast<std::uint32_t>(work.in_width) * static_cast<std::uint32_t>(work.channels)),
        pixel(static_cast<std::uint32_t>(work.channels)) {
    first = work.in + image * (static_cast<std::uint64_t>(work.in_height) * row);
  }
  /// Returns the first channel of a pixel. The other channels follow.
  PENSTOCK_HOST_DEVICE const std::uint8_t* at(std::int32_t y, std::int32_t x) const {
    return first + static_cast<std::uint64_t>(static_cast<std::uint32_t>(y)) * row +
           static_cast<std::uint32_t>(x) * pixel;
  }
};

/// Makes all channels of pixel (y, x) of the result of one image.
inline void make_pixel(const PixelWork& work, std::uint64_t image, std::int32_t y, std::int32_t x) {
  const PixelOp& op = work.ops[image];
  const PixelPlace place = place_of_pixel(work, op, y, x);
  const std::uint8_t* const from = place.filled ? op.fill : ImageBytes(work, image).at(place.y, place.x);
  const auto channels = static_cast<std::uint64_t>(work.channels);
  const std::uint64_t pixels = static_cast<std::uint64_t>(work.height) * static_cast<std::uint64_t>(work.width);
  const std::uint64_t pixel =
      static_cast<std::uint64_t>(y) * static_cast<std::uint64_t>(work.width) + static_cast<std::uint64_t>(x);
  for (std::uint64_t c = 0; c < channels; ++c) {
    const std::uint64_t at = image * pixels * channels + (work.planar ? c * pixels + pixel : pixel * channels + c);
    switch (work.result) {
      case PixelWork::Result::u8:
        static_cast<std::uint8_t*>(work.out)[at] = from[c];
        break;
      case PixelWork::Result::f16:
        static_cast<std::uint16_t*>(work.out)[at] = to_half(scaled(from[c], op.scale[c], op.bias[c]));
        break;
      case PixelWork::Result::bf16:
        static_cast<std::uint16_t*>(work.out)[at] = to_bfloat16(scaled(from[c], op.scale[c], op.bias[c]));
        break;
      case PixelWork::Result::f32:
        static_cast<float*>(work.out)[at] = scaled(from[c], op.scale[c], op.bias[c]);
        break;
    }
  }
}

}  // namespace penstock::detail
