// SPDX-License-Identifier: Apache-2.0
#include "regions/region_plane.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include <penstock/error.hpp>

namespace penstock::slide {

namespace {

// The mark of a pixel while a polygon is painted. A pixel has the mark if an odd number of the polygon's edges crosses
// the pixel's row between the previous pixel's centre and this pixel's centre.
constexpr std::uint8_t crossed = 0x80;

void take_work(std::uint64_t work, std::uint64_t& left) {
  if (work > left)
    throw Error(Errc::limit_exceeded,
                "its regions are many and large, as no drawing is: there are more than 64 pixels to be looked at for "
                "each pixel of the slide in small and each byte of the file");
  left -= work;
}

}  // namespace

RegionPlane::RegionPlane(const MaskGrid& grid)
    : grid_(grid), bytes_(static_cast<std::size_t>(grid.width) * static_cast<std::size_t>(grid.height)) {}

std::int32_t RegionPlane::first_centre(double place, std::int32_t count) const noexcept {
  const auto centre = [&](double i) { return (i + 0.5) * grid_.k; };
  if (place <= centre(0)) return 0;
  if (place > centre(count - 1)) return count;
  // The result of the division may be one too large, or too small.
  auto i = static_cast<std::int32_t>(place / grid_.k);
  while (i > 0 && centre(i - 1) >= place) --i;
  while (centre(i) < place) ++i;
  return i;
}

void RegionPlane::touch_rows(std::int32_t first, std::int32_t end) noexcept {
  if (first >= end) return;
  first_row_ = first_row_ == end_row_ ? first : std::min(first_row_, first);
  end_row_ = std::max(end_row_, end);
}

void RegionPlane::paint(const RegionPolygon& polygon, std::uint8_t bit, std::uint64_t& work_left) {
  std::int32_t top = grid_.height, bottom = 0, left = grid_.width, right = 0;
  for (const std::vector<RegionPoint>& ring : polygon.rings)
    for (const RegionPoint& point : ring) {
      const std::int32_t x = first_centre(point.x, grid_.width), y = first_centre(point.y, grid_.height);
      top = std::min(top, y);
      bottom = std::max(bottom, y);
      left = std::min(left, x);
      right = std::max(right, x);
    }
  if (top >= bottom || left >= right) return;
  take_work(static_cast<std::uint64_t>(bottom - top) * static_cast<std::uint64_t>(right - left), work_left);

  for (const std::vector<RegionPoint>& ring : polygon.rings)
    for (std::size_t i = 0; i < ring.size(); ++i) {
      RegionPoint upper = ring[i], lower = ring[i + 1 == ring.size() ? 0 : i + 1];
      if (upper.y > lower.y) std::swap(upper, lower);
      const std::int32_t first = first_centre(upper.y, grid_.height), end = first_centre(lower.y, grid_.height);
      // Painting an edge takes, in each row that it crosses, as long as painting this number of pixels.
      constexpr std::uint64_t pixels_a_row = 8;
      take_work(pixels_a_row * static_cast<std::uint64_t>(end - first) + 1, work_left);
      for (std::int32_t y = first; y < end; ++y) {
        const double at_row = (y + 0.5) * grid_.k;
        const double x = upper.x + (at_row - upper.y) * (lower.x - upper.x) / (lower.y - upper.y);
        // Rounding may put x slightly outside of the polygon's rectangle.
        if (const std::int32_t column = std::max(first_centre(x, grid_.width), left); column < right)
          bytes_[at(column, y)] ^= crossed;
      }
    }
  for (std::int32_t y = top; y < bottom; ++y) {
    std::uint8_t* const pixels = bytes_.data() + at(0, y);
    std::uint8_t inside = 0;
    for (std::int32_t x = left; x < right; ++x) {
      inside ^= pixels[x] & crossed;
      pixels[x] = static_cast<std::uint8_t>((pixels[x] & ~crossed) | (inside != 0 ? bit : 0));
    }
  }
  touch_rows(top, bottom);
}

void RegionPlane::paint(const RegionPicture& picture, std::uint8_t value, std::uint8_t bit) {
  const bool of_a_part = picture.covers.has_size();
  const SlideBounds covers = of_a_part ? picture.covers : SlideBounds{0, 0, grid_.level_width, grid_.level_height};
  constexpr std::int32_t none = -1;
  const auto source = [&](std::int32_t i, std::int32_t count, std::int64_t begin, std::int64_t pixels) {
    const double place = (i + 0.5) * grid_.k - static_cast<double>(begin);
    if (of_a_part && (place < 0 || place >= static_cast<double>(pixels))) return none;
    return std::min(static_cast<std::int32_t>(place * count / static_cast<double>(pixels)), count - 1);
  };
  std::vector<std::int32_t> columns;
  for (std::int32_t x = 0; x < grid_.width; ++x) columns.push_back(source(x, picture.width, covers.x, covers.width));
  const RegionPicture::Rows& rows = picture.rows[value];
  std::int32_t first = grid_.height, end = 0;
  for (std::int32_t y = 0; y < grid_.height; ++y) {
    const std::int32_t row = source(y, picture.height, covers.y, covers.height);
    if (row < rows.first || row >= rows.end) continue;
    first = std::min(first, y);
    end = y + 1;
    const std::uint8_t* const values =
        picture.values.data() + static_cast<std::size_t>(row) * static_cast<std::size_t>(picture.width);
    std::uint8_t* const pixels = bytes_.data() + at(0, y);
    for (std::int32_t x = 0; x < grid_.width; ++x)
      if (const std::int32_t column = columns[static_cast<std::size_t>(x)]; column != none && values[column] == value)
        pixels[x] |= bit;
  }
  touch_rows(first, end);
}

void RegionPlane::turn_into(std::uint8_t from, std::uint8_t to) {
  const auto begin = bytes_.begin() + static_cast<std::ptrdiff_t>(at(0, first_row_)),
             end = bytes_.begin() + static_cast<std::ptrdiff_t>(at(0, end_row_));
  std::transform(begin, end, begin, [&](std::uint8_t byte) {
    return static_cast<std::uint8_t>((byte & ~from) | ((byte & from) != 0 ? to : 0));
  });
  first_row_ = end_row_ = 0;
}

}  // namespace penstock::slide
