// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace penstock {

/// Chosen places of one slide: a list instead of a grid. `read_coords` (penstock/sources/coords.hpp) reads these from
/// the files of CLAM and TRIDENT.
struct SlideCoords {
  /// The slide. One of
  /// - its name (`SlideInfo::name`);
  /// - the part of its name after the last '/', if no other slide has the same;
  /// - the name of its file without the last ending, after the folders in its name.
  ///
  /// If no slide has this name, `_patches` at its end, which TRIDENT adds, is ignored.
  std::string slide = {};
  std::vector<std::array<std::int32_t, 2>> at = {};  ///< x and y of each place's top left pixel, at level 0
  /// Size of a place: pixels of `level` on each side. Slides whose records are larger or smaller are errors. Default
  /// (0): not known, and not checked.
  double size = 0;
  std::int32_t level = 0;  ///< a stored level
  /// Pixels of level 0 per pixel of `level`, on each side. Default (0): from the sizes of the slide's levels.
  double downsample = 0;
  /// Size of the slide, in pixels of level 0. Slides of another size are errors. A difference of less than one pixel of
  /// `level` is accepted. Default (0): not known, and not checked.
  std::int64_t slide_width = 0, slide_height = 0;
  std::string file = {};  ///< the file that the list is from, for errors
};

}  // namespace penstock
