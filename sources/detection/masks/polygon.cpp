// SPDX-License-Identifier: Apache-2.0
#include "polygon.hpp"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>

#include <penstock/error.hpp>

namespace penstock::detection {

namespace {

// Edges are drawn on a grid that is finer than pixels by this factor. A column's changes are where edges cross the line
// in its middle, from fine column `middle` of the pixel to the next fine column.
constexpr std::int64_t fine = 5, middle = 2;

std::int64_t floor_of(std::int64_t number) noexcept {
  return number >= 0 ? number / fine : -((-number + fine - 1) / fine);
}

// Returns the pixel of a corner's fine coordinate. COCO truncates, so numbers below 0 are rounded up.
std::int64_t fine_coordinate(double number) noexcept {
  return static_cast<std::int64_t>(static_cast<double>(fine) * number + .5);
}

// Returns the row of the change where an edge crosses a column at the fine row `y`.
std::int64_t row_of(std::int64_t y, std::int64_t height) noexcept {
  return y <= middle ? 0 : std::min((y - middle + fine - 1) / fine, height);
}

struct Columns {
  std::int64_t first, last;
};

// Returns the columns of the picture whose middle an edge between these fine columns crosses.
Columns columns_between(std::int64_t left, std::int64_t right, std::int64_t width) noexcept {
  return {std::max<std::int64_t>(0, floor_of(left - middle + fine - 1)),
          std::min(width - 1, floor_of(right - middle - 1))};
}

}  // namespace

void PolygonPainter::cross_columns(Point from, Point to) {
  const std::int64_t dx = std::abs(to.x - from.x), dy = std::abs(to.y - from.y);
  const bool flat = dx >= dy;
  // The same edge in the other direction has the same points.
  if (flat ? from.x > to.x : from.y > to.y) std::swap(from, to);
  const Columns columns = columns_between(std::min(from.x, to.x), std::max(from.x, to.x), mask_.width);
  // The arithmetic is that of pycocotools, operation by operation, as its rounding decides pixels.
  if (flat) {
    const double slope = static_cast<double>(to.y - from.y) / static_cast<double>(dx);
    const auto y_at = [&](std::int64_t x) {
      return static_cast<std::int64_t>(static_cast<double>(from.y) + slope * static_cast<double>(x - from.x) + .5);
    };
    for (std::int64_t column = columns.first; column <= columns.last; ++column) {
      const std::int64_t x = column * fine + middle;
      shape_.change(column, row_of(std::min(y_at(x), y_at(x + 1)), mask_.height));
    }
    return;
  }
  const double slope = static_cast<double>(to.x - from.x) / static_cast<double>(dy);
  const auto x_at = [&](std::int64_t step) {
    return static_cast<std::int64_t>(static_cast<double>(from.x) + slope * static_cast<double>(step) + .5);
  };
  for (std::int64_t column = columns.first; column <= columns.last; ++column) {
    const std::int64_t x = column * fine + middle;
    // The last step before the edge crosses from fine column x to x + 1, or back.
    const auto before = [&](std::int64_t step) { return slope > 0 ? x_at(step) <= x : x_at(step) > x; };
    const double guess = (static_cast<double>(x - from.x) + .5) / slope;
    auto step = std::clamp<std::int64_t>(static_cast<std::int64_t>(guess), 0, dy);
    while (step > 0 && !before(step)) --step;
    while (step < dy && before(step + 1)) ++step;
    if (step == dy || std::min(x_at(step), x_at(step + 1)) != x) continue;
    shape_.change(column, row_of(from.y + step, mask_.height));
  }
}

void PolygonPainter::add_work(std::int64_t work) {
  work_ += work;
  if (work_ > most_work_)
    throw Error(Errc::limit_exceeded,
                "the polygons cross or cover more of the picture than 64 times its pixels and "
                "their coordinates");
}

void PolygonPainter::draw(std::span<const double> points) {
  corners_.clear();
  for (std::size_t i = 0; i + 1 < points.size(); i += 2)
    corners_.push_back({fine_coordinate(points[i]), fine_coordinate(points[i + 1])});
  corners_.push_back(corners_.front());

  most_work_ += work_per_pixel * static_cast<std::int64_t>(points.size());
  const std::int64_t work = work_;
  for (std::size_t i = 1; i < corners_.size(); ++i) {
    const auto [left, right] = std::minmax(corners_[i - 1].x, corners_[i].x);
    const Columns columns = columns_between(left, right, mask_.width);
    add_work(std::max<std::int64_t>(0, columns.last - columns.first + 1));
  }
  if (work_ == work) return;

  const auto [left, right] =
      std::minmax_element(corners_.begin(), corners_.end(), [](const Point& a, const Point& b) { return a.x < b.x; });
  const auto [top, bottom] =
      std::minmax_element(corners_.begin(), corners_.end(), [](const Point& a, const Point& b) { return a.y < b.y; });
  const Columns columns = columns_between(left->x, right->x, mask_.width);
  // Rounding may move a point of an edge beyond its ends, by less than one row.
  const PixelBox box{.left = columns.first,
                     .right = columns.last,
                     .top = std::max<std::int64_t>(0, row_of(top->y, mask_.height) - 1),
                     .bottom = std::min(mask_.height, row_of(bottom->y, mask_.height) + 1)};
  add_work((box.right - box.left + 1) * (box.bottom - box.top + 1));
  shape_.begin(box);
  for (std::size_t i = 1; i < corners_.size(); ++i)
    if (corners_[i - 1].x != corners_[i].x) cross_columns(corners_[i - 1], corners_[i]);
  shape_.draw(mask_);
}

}  // namespace penstock::detection
