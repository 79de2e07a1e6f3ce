#pragma once

#include <cstddef>
#include <cstdint>

#include <penstock/extend/half.hpp>
#include <penstock/extend/host_device.hpp>

#ifdef __CUDACC__
#include <cuda_fp16.h>
#endif

namespace penstock::detail {

/// What happens to one image of a batch: its part of an ImageOp that does not resample. Plain, for a kernel to read;
/// all zeros makes zeros.
struct PixelOp {
  enum : std::uint32_t { transpose = 1, flip_x = 2, flip_y = 4, reflect = 8 };
  std::int32_t top = 0, left = 0;  ///< of the box, which with its margin is as large as the result
  std::uint32_t turns = 0;
  float scale[4] = {}, bias[4] = {};                         ///< of each channel, where the result is no u8
  std::int32_t above = 0, before = 0, below = 0, after = 0;  ///< rows and columns of the margin around the box
  std::uint8_t fill[4] = {};                                 ///< of the margin, where it does not reflect
};

/// The images of a batch, in and out, as a kernel gets them.
struct PixelWork {
  enum class Result : std::uint8_t { u8, f16, f32 };
  const std::uint8_t* in = nullptr;  ///< [N, in_height, in_width, channels]
  void* out = nullptr;
  const PixelOp* ops = nullptr;                                                   ///< [N]
  std::uint64_t images = 0;                                                       ///< N
  std::int32_t in_height = 0, in_width = 0, channels = 0, height = 0, width = 0;  ///< these of the result
  Result result = Result::u8;
  bool planar = false;  ///< [N, channels, height, width]; else [N, height, width, channels]
};

/// Product and sum round separately, as on every CPU: no fused multiply-add.
PENSTOCK_HOST_DEVICE inline float scaled(std::uint8_t value, float scale, float bias) {
  return exact::sum(exact::product(static_cast<float>(value), scale), bias);
}

PENSTOCK_HOST_DEVICE inline std::uint16_t half_bits(float value) {
#ifdef __CUDA_ARCH__
  return __half_as_ushort(__float2half_rn(value));
#else
  return to_half(value);
#endif
}

/// Along one axis: which of `size` pixels stands at `at`, or is reflected there.
PENSTOCK_HOST_DEVICE inline std::int32_t reflected(std::int32_t at, std::int32_t size) {
  if (at < 0) return -at;
  return at < size ? at : 2 * size - 2 - at;
}

/// All channels of pixel (y, x) of the result of one image.
PENSTOCK_HOST_DEVICE inline void make_pixel(const PixelWork& work, std::uint64_t image, std::int32_t y,
                                            std::int32_t x) {
  const PixelOp& op = work.ops[image];
  // Backwards: flipped last, transposed before.
  std::int32_t from_y = (op.turns & PixelOp::flip_y) != 0 ? work.height - 1 - y : y;
  std::int32_t from_x = (op.turns & PixelOp::flip_x) != 0 ? work.width - 1 - x : x;
  if ((op.turns & PixelOp::transpose) != 0) {
    const std::int32_t swapped = from_y;
    from_y = from_x;
    from_x = swapped;
  }
  const bool turned = (op.turns & PixelOp::transpose) != 0;
  const std::int32_t box_height = (turned ? work.width : work.height) - op.above - op.below;
  const std::int32_t box_width = (turned ? work.height : work.width) - op.before - op.after;
  from_y -= op.above;
  from_x -= op.before;
  const bool outside = from_y < 0 || from_y >= box_height || from_x < 0 || from_x >= box_width;
  if (outside) {
    from_y = reflected(from_y, box_height);
    from_x = reflected(from_x, box_width);
  }
  const auto channels = static_cast<std::uint64_t>(work.channels);
  const std::uint64_t in_row =
      image * static_cast<std::uint64_t>(work.in_height) + static_cast<std::uint64_t>(op.top + from_y);
  const bool filled = outside && (op.turns & PixelOp::reflect) == 0;
  const std::uint8_t* const from = filled ? op.fill
                                          : work.in + (in_row * static_cast<std::uint64_t>(work.in_width) +
                                                       static_cast<std::uint64_t>(op.left + from_x)) *
                                                          channels;
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
        static_cast<std::uint16_t*>(work.out)[at] = half_bits(scaled(from[c], op.scale[c], op.bias[c]));
        break;
      case PixelWork::Result::f32:
        static_cast<float*>(work.out)[at] = scaled(from[c], op.scale[c], op.bias[c]);
        break;
    }
  }
}

}  // namespace penstock::detail
