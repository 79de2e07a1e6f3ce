// SPDX-License-Identifier: Apache-2.0
#include "data/decode_whole.hpp"

#include <cstdint>
#include <cstring>

namespace penstock::detail {

void decode_whole(EncodedImage& image, const ImageShape& shape, bool verify, std::byte* out, Scratch& scratch) {
  const Pixels pixels = image.decode({0, 0, shape.height, shape.width}, verify, out, scratch);
  if (reinterpret_cast<const std::byte*>(pixels.data) == out) return;
  const std::size_t row = static_cast<std::size_t>(shape.width) * shape.pixel_bytes();
  for (std::int32_t y = 0; y < shape.height; ++y)
    std::memcpy(out + static_cast<std::size_t>(y) * row, pixels.data + y * pixels.stride, row);
}

}  // namespace penstock::detail
