#pragma once

#include <cstdint>

#include <penstock/sources/slide.hpp>

#include "file/grid.hpp"
#include "file/slide_file.hpp"
#include "pixels/slide_box.hpp"

namespace penstock::slide {

/// The pixels of a place of the slide's grid, in the image that it lies on. With SlideEdges::pad they reach beyond it.
inline SlideBox place_box(const SlideFile& slide, const Slides& options, const GridPlace& place) noexcept {
  const Scale& scale = slide.scale;
  const SlideBox box{scale.x_in_image(options.left) + static_cast<std::int64_t>(place.column) * options.stride,
                     scale.y_in_image(options.top) + static_cast<std::int64_t>(place.row) * options.stride,
                     options.size, options.size};
  return options.edges == SlideEdges::shrink ? inside(scale.width, scale.height, box) : box;
}

}  // namespace penstock::slide
