// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <penstock/sources/slide.hpp>

#include "file/grid/grid.hpp"
#include "file/slide_file.hpp"
#include "pixels/slide_box.hpp"

namespace penstock::slide {

/// Returns the pixels of the slide's image that a place of the slide's grid, or list, covers. With SlideEdges::pad, the
/// box may extend past the image.
inline SlideBox place_box(const SlideFile& slide, const Slides& options, const GridPlace& place) noexcept {
  const Scale& scale = slide.image.scale;
  const bool listed = slide.records.grid.is_list();
  const auto column = static_cast<std::int64_t>(place.column), row = static_cast<std::int64_t>(place.row);
  const SlideBox box{listed ? scale.x_in_image(column) : scale.x_in_image(options.left) + column * options.stride,
                     listed ? scale.y_in_image(row) : scale.y_in_image(options.top) + row * options.stride,
                     options.size, options.size};
  return options.edges == SlideEdges::shrink ? inside(scale.width, scale.height, box) : box;
}

}  // namespace penstock::slide
