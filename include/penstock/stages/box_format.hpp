// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace penstock {

/// What the four numbers of a box are. Image stages take `xyxy`.
enum class BoxFormat : std::uint8_t {
  xyxy,           ///< x0, y0, x1, y1: two corners, in pixels
  xywh,           ///< x0, y0, width, height, in pixels, as in COCO
  cxcywh,         ///< the centre's x and y, width, height, in pixels
  xyxy_shares,    ///< `xyxy`, with x as shares of the image's width and y as shares of its height
  xywh_shares,    ///< `xywh`, as shares likewise
  cxcywh_shares,  ///< `cxcywh`, as shares likewise, as in YOLO's text files
};

}  // namespace penstock
