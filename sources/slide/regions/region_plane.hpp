// SPDX-License-Identifier: Apache-2.0
// Draws regions as pixels of a small plane.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "pixels/mask_box.hpp"
#include "regions/region_file.hpp"

namespace penstock::slide {

/// A byte per pixel. Each bit shows whether a region covers the pixel's centre.
class RegionPlane {
 public:
  /// Makes a plane without regions. The functions below paint with one bit: 1, 2, 4, ..., or 64.
  explicit RegionPlane(const MaskGrid& grid);

  const MaskGrid& grid() const noexcept { return grid_; }
  std::span<const std::uint8_t> bytes() const noexcept { return bytes_; }
  const std::uint8_t* row(std::int32_t y) const noexcept { return bytes_.data() + at(0, y); }

  /// Sets the bit inside the polygon. Takes time proportional to the rows that its edges cross and to the pixels of the
  /// rectangle around it. This work is subtracted from `work_left`. @throws Error(limit_exceeded), without a file, if
  /// `work_left` is less than this work.
  void paint(const RegionPolygon& polygon, std::uint8_t bit, std::uint64_t& work_left);
  /// Sets the bit where the picture has `value`.
  void paint(const RegionPicture& picture, std::uint8_t value, std::uint8_t bit);
  /// Sets the bits `to` where the bits `from` are set, and clears the bits `from`.
  void turn_into(std::uint8_t from, std::uint8_t to);
  /// All pixels that were painted since the last `turn_into` are in rows [first_row(), end_row()).
  std::int32_t first_row() const noexcept { return first_row_; }
  std::int32_t end_row() const noexcept { return end_row_; }

 private:
  std::size_t at(std::int32_t x, std::int32_t y) const noexcept {
    return static_cast<std::size_t>(y) * static_cast<std::size_t>(grid_.width) + static_cast<std::size_t>(x);
  }
  /// Returns the first of `count` pixels of a side whose centre is at or after `place`. Returns `count` if there is no
  /// such pixel. `place` is in pixels of level 0.
  std::int32_t first_centre(double place, std::int32_t count) const noexcept;
  void touch_rows(std::int32_t first, std::int32_t end) noexcept;

  MaskGrid grid_;
  std::vector<std::uint8_t> bytes_;
  std::int32_t first_row_ = 0, end_row_ = 0;
};

}  // namespace penstock::slide
