// SPDX-License-Identifier: Apache-2.0
#include "wide.hpp"

#include <cstdint>
#include <cstring>

#include <penstock/extend/bfloat16.hpp>
#include <penstock/extend/half.hpp>

#include "nearest.hpp"

namespace penstock::image {

namespace {

// Returns, along one axis, which pixel of the box is at `at` in the part that is kept.
std::int32_t source_of(std::int32_t at, std::int32_t in, std::int32_t out, std::int32_t first, bool mirror) {
  const std::int32_t from = in == out ? first + at : below_centre(first + at, in, out);
  return mirror ? in - 1 - from : from;
}

void write_value(const ImageOp& op, std::uint16_t value, std::size_t channel, std::byte* out, std::size_t at) {
  if (op.result_dtype() == DType::u16) {
    std::memcpy(out + at * sizeof value, &value, sizeof value);
    return;
  }
  const float product = static_cast<float>(value) * op.scale[channel];
  const float sum = product + op.bias[channel];
  if (op.dtype == DType::f32) {
    std::memcpy(out + at * sizeof sum, &sum, sizeof sum);
  } else {
    const std::uint16_t half = op.dtype == DType::f16 ? to_half(sum) : to_bfloat16(sum);
    std::memcpy(out + at * sizeof half, &half, sizeof half);
  }
}

}  // namespace

void run_wide(const Pixels& pixels, const ImageOp& op, std::byte* out) {
  const ImageShape shape = op.shape();
  const auto channels = static_cast<std::size_t>(shape.channels);
  const auto height = static_cast<std::size_t>(shape.height), width = static_cast<std::size_t>(shape.width);
  for (std::int32_t y = 0; y < shape.height; ++y) {
    for (std::int32_t x = 0; x < shape.width; ++x) {
      // Goes through the operations backwards, from the result to the source: first the flips, then the transpose.
      std::int32_t from_y = op.flip_y ? shape.height - 1 - y : y, from_x = op.flip_x ? shape.width - 1 - x : x;
      if (op.transpose) std::swap(from_y, from_x);
      from_y = source_of(from_y, op.box.height, op.resized.height, op.kept.top, op.mirror_y);
      from_x = source_of(from_x, op.box.width, op.resized.width, op.kept.left, op.mirror_x);
      const std::uint8_t* from =
          pixels.data + from_y * pixels.stride + from_x * static_cast<std::ptrdiff_t>(shape.pixel_bytes());
      const std::size_t pixel = static_cast<std::size_t>(y) * width + static_cast<std::size_t>(x);
      for (std::size_t c = 0; c < channels; ++c, from += sizeof(std::uint16_t)) {
        std::uint16_t value;
        std::memcpy(&value, from, sizeof value);
        write_value(op, value, c, out, op.layout == Layout::chw ? c * height * width + pixel : pixel * channels + c);
      }
    }
  }
}

}  // namespace penstock::image
