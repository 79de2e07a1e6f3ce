// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstring>

#include <penstock/extend/image_op.hpp>

namespace penstock::detail {

/// Copies an image's rows to `out`, one after the other.
inline void copy_rows(const Pixels& pixels, std::byte* out) {
  const std::size_t row = static_cast<std::size_t>(pixels.shape.width) * pixels.shape.pixel_bytes();
  for (std::int32_t y = 0; y < pixels.shape.height; ++y)
    std::memcpy(out + static_cast<std::size_t>(y) * row, pixels.data + y * pixels.stride, row);
}

}  // namespace penstock::detail
