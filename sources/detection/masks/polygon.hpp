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

  /// Sets the pixels of a polygon to 1. `points`: x, y of each point; at least one point. Costs time for the columns of
  /// the picture that each edge crosses, and for the polygon's box in the picture.
  /// @throws Error(limit_exceeded) if edges cross columns more often than 64 times the number of pixels and points.
  void draw(std::span<const double> points, const Mask& mask);

 private:
  struct Point {
    std::int64_t x, y;
  };

  void cross_columns(Point from, Point to, const Mask& mask);

  std::vector<Point> corners_;
  MaskShape shape_;
};

}  // namespace penstock::detection
