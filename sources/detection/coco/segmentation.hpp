// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "coco/coco_entry.hpp"
#include "masks/polygon.hpp"
#include "masks/run_lengths.hpp"

namespace penstock::detection {

/// Draws the member `segmentation` of annotations. One thread at a time.
class SegmentationPainter {
 public:
  /// Passes the segmentation at the entry's cursor, and sets its pixels in `mask`, which must be 0, to 1.
  /// @throws Error(corrupt | unsupported | limit_exceeded), with entry, member and offset.
  void draw(CocoEntry& entry, const Mask& mask);

 private:
  void draw_polygons(CocoEntry& entry, const Mask& mask);
  void draw_runs(CocoEntry& entry, const Mask& mask);

  std::vector<double> points_;
  PolygonPainter polygons_;
  RunPainter runs_;
};

}  // namespace penstock::detection
