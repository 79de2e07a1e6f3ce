// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "masks/mask_shape.hpp"

namespace penstock::detection {

/// Draws polygons as pycocotools does, to the same bits. One thread at a time.
class PolygonPainter {
 public:
  /// Coordinates may have at most this magnitude.
  static constexpr double largest = 1e8;

  /// Begins a mask.
  void begin(const Mask& mask) noexcept {
    mask_ = mask;
    work_ = 0;
    most_work_ = work_per_pixel * mask.height * mask.width;
  }
  /// Sets the pixels of a polygon to 1. `points`: x, y of each point; at least one point. Costs time for the columns of
  /// the picture that each edge crosses, and for the polygon's box in the picture.
  /// @throws Error(limit_exceeded) if that is more, for all polygons of the mask together, than 64 times the number of
  /// pixels and coordinates.
  void draw(std::span<const double> points);

 private:
  struct Point {
    std::int64_t x, y;
  };

  static constexpr std::int64_t work_per_pixel = 64;

  void cross_columns(Point from, Point to);
  void add_work(std::int64_t work);

  Mask mask_;
  std::int64_t work_ = 0, most_work_ = 0;
  std::vector<Point> corners_;
  MaskShape shape_;
};

}  // namespace penstock::detection
