// SPDX-License-Identifier: Apache-2.0
#include "mask_shape.hpp"

#include <algorithm>
#include <cstddef>

namespace penstock::detection {

void MaskShape::begin(const PixelBox& box) {
  box_ = box;
  const auto columns = static_cast<std::size_t>(width());
  changes_.assign(columns * static_cast<std::size_t>(box.bottom - box.top + 1), 0);
  odd_.assign(columns, 0);
}

void MaskShape::draw(const Mask& mask) {
  // A column begins as the one before it ended.
  row_.resize(odd_.size());
  std::uint8_t state = 0;
  for (std::size_t column = 0; column < odd_.size(); ++column) {
    row_[column] = state;
    state ^= odd_[column];
  }
  const auto is_empty = [&] { return std::find(row_.begin(), row_.end(), 1) == row_.end(); };
  bool empty = is_empty();
  for (std::int64_t y = empty ? box_.top : 0; y < mask.height; ++y) {
    if (y >= box_.top && y <= box_.bottom) {
      const std::uint8_t* const changes = changes_.data() + (y - box_.top) * width();
      for (std::size_t column = 0; column < row_.size(); ++column) row_[column] ^= changes[column];
      empty = false;
    } else if (y == box_.bottom + 1) {
      empty = is_empty();
    }
    if (empty && y > box_.bottom) break;
    std::uint8_t* const pixels = mask.pixels + y * mask.width + box_.left;
    for (std::size_t column = 0; column < row_.size(); ++column) pixels[column] |= row_[column];
  }
  if (state == 0) return;
  for (std::int64_t y = 0; y < mask.height; ++y)
    std::fill(mask.pixels + y * mask.width + box_.right + 1, mask.pixels + (y + 1) * mask.width, std::uint8_t{1});
}

}  // namespace penstock::detection
