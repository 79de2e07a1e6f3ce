// What became of the places that the pixels of a picture show.
#pragma once

#include <cstdint>
#include <vector>

#include <penstock/sources/slide.hpp>

#include "file/slide_file.hpp"
#include "picture/overview.hpp"

namespace penstock::slide {

/// What became of a place; of a pixel, that of the places which cover it, of which the last of these counts.
enum class Fate : std::uint8_t {
  no_place,       ///< the grid covers it nowhere
  little_tissue,  ///< left out: it shows less tissue than is wanted
  record,
};

/// What became of each pixel of the picture, row by row.
std::vector<Fate> fates_of(const SlideFile& slide, const Slides& options, const Overview& overview);

}  // namespace penstock::slide
