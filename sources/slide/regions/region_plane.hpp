// Regions as pixels in small.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "pixels/mask_box.hpp"
#include "regions/region_file.hpp"

namespace penstock::slide {

/// A byte a pixel, of whose bits each says whether a region covers the pixel's centre.
class RegionPlane {
 public:
  /// Bits that may be painted: `bit` is one of 1, 2, 4, ..., 64.
  explicit RegionPlane(const MaskGrid& grid);

  const MaskGrid& grid() const noexcept { return grid_; }
  std::span<const std::uint8_t> bytes() const noexcept { return bytes_; }
  const std::uint8_t* row(std::int32_t y) const noexcept { return bytes_.data() + at(0, y); }

  /// Sets the bit where the polygon is. Takes time in proportion to the rows that its edges cross and to the pixels of
  /// the rectangle around it; all calls together take `work_left` of these at most.
  /// @throws Error(limit_exceeded), without a file.
  void paint(const RegionPolygon& polygon, std::uint8_t bit, std::uint64_t& work_left);
  /// Sets the bit where the picture has that value.
  void paint(const RegionPicture& picture, std::uint8_t value, std::uint8_t bit);
  /// Takes the bits `from` as the bits `to` too, and clears them.
  void turn_into(std::uint8_t from, std::uint8_t to);
  /// The rows in which a pixel was painted since the last `turn_into`: [first, second).
  std::int32_t first_row() const noexcept { return first_row_; }
  std::int32_t end_row() const noexcept { return end_row_; }

 private:
  std::size_t at(std::int32_t x, std::int32_t y) const noexcept {
    return static_cast<std::size_t>(y) * static_cast<std::size_t>(grid_.width) + static_cast<std::size_t>(x);
  }
  /// The first pixel whose centre is at `place` of level 0, or after it: 0 to `count`.
  std::int32_t first_centre(double place, std::int32_t count) const noexcept;
  void touch_rows(std::int32_t first, std::int32_t end) noexcept;

  MaskGrid grid_;
  std::vector<std::uint8_t> bytes_;
  std::int32_t first_row_ = 0, end_row_ = 0;
};

}  // namespace penstock::slide
