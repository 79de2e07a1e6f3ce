// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace penstock::detection {

/// The mask that a shape is drawn into: H rows of W bytes, which are 0 or 1.
struct Mask {
  std::uint8_t* pixels = nullptr;
  std::int64_t height = 0, width = 0;
};

/// Columns and rows of a picture; the ends are included.
struct PixelBox {
  std::int64_t left = 0, right = -1, top = 0, bottom = -1;
};

/// A shape as run lengths of COCO describe it: the pixels are in the order of the columns, from top to bottom, and
/// places where runs of 0 and 1 change. One shape after another; one thread at a time.
class MaskShape {
 public:
  /// Begins a shape. All changes will be in `box`, whose last row may be H, the row below the picture.
  void begin(const PixelBox& box);
  /// Adds a change: from the pixel at `row` on, 0 becomes 1 and 1 becomes 0, to the end of the last column. Row H is
  /// row 0 of the next column.
  void change(std::int64_t column, std::int64_t row) noexcept {
    auto& change = changes_[static_cast<std::size_t>((row - box_.top) * width() + column - box_.left)];
    change ^= 1;
    odd_[static_cast<std::size_t>(column - box_.left)] ^= 1;
  }
  /// Sets the shape's pixels in `mask` to 1. Costs time for the pixels of the box, and of columns right of it that are
  /// filled.
  void draw(const Mask& mask);

 private:
  std::int64_t width() const noexcept { return box_.right - box_.left + 1; }

  PixelBox box_;
  std::vector<std::uint8_t> changes_;  // by row and column of the box
  std::vector<std::uint8_t> odd_;      // by column: whether the number of changes in it is odd
  std::vector<std::uint8_t> row_;      // the pixels of one row
};

}  // namespace penstock::detection
