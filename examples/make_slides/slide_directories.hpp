// SPDX-License-Identifier: Apache-2.0
// Writes the directories of a slide's file, with which a reader finds its levels and tiles.
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
  aperio,  ///< one directory after the other, recognised by the image's description
  tiff,    ///< one directory after the other, with lower levels marked as reduced images
  ome      ///< one directory with XML, and the lower levels as its sub-directories
};

/// The size of a pixel of level 0, and the objective that gives this size.
inline constexpr double microns_per_pixel = 0.5;
inline constexpr int objective_power = 20;

struct SlideLayout {
  SlideFormat format = SlideFormat::aperio;
  TiffForm tiff = {};  ///< `write_directories` sets `big` if the file is too large for a classic TIFF file
};

/// Writes the directories after the tiles. Returns the file's header. Sets `layout.tiff.big` if the file has to be a
/// BigTIFF.
std::vector<std::byte> write_directories(const SlideWish& wish, const std::vector<DrawnLevel>& levels,
                                         std::span<const std::byte> tables, SlideLayout& layout, NewFile& file);

}  // namespace make_slides
