// SPDX-License-Identifier: Apache-2.0
// The directories of a slide's file: what a reader finds its levels and tiles by.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "new_file.hpp"
#include "slide_drawing.hpp"
#include "tiff_writer.hpp"

namespace make_slides {

enum class SlideFormat : std::uint8_t {
  aperio,  ///< directories of tiles one after the other, told by the image's description
  tiff,    ///< the same, marked as reduced images
  ome      ///< one directory with its lower levels as sub-directories, and XML
};

/// What one pixel of level 0 stands for, and the objective that sees it so.
inline constexpr double microns_per_pixel = 0.5;
inline constexpr int objective_power = 20;

struct SlideLayout {
  SlideFormat format = SlideFormat::aperio;
  TiffForm tiff = {};  ///< `big` also where the file turns out larger than a classic one can be
};

/// Writes the directories behind the tiles. Returns the file's header, and says in `layout` whether it is a BigTIFF.
std::vector<std::byte> write_directories(const SlideWish& wish, const std::vector<DrawnLevel>& levels,
                                         std::span<const std::byte> tables, SlideLayout& layout, NewFile& file);

}  // namespace make_slides
