// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace penstock {

/// A list of chosen places of one slide, to use instead of a grid. `read_coords` (penstock/sources/coords.hpp) reads
/// such lists from the files of CLAM and TRIDENT.
struct SlideCoords {
  /// Names the slide by one of
  /// - the slide's name (`SlideInfo::name`);
  /// - the part of the slide's name after the last '/', if no other slide has the same;
  /// - the folders in the slide's name, then the name of its file without the last ending.
  ///
  /// If no slide fits, `_patches` at the end, which TRIDENT adds, is ignored.
  std::string slide = {};
  std::vector<std::array<std::int32_t, 2>> at = {};  ///< x and y of each place's top left pixel, at level 0
  /// Size of a place: pixels of `level` on each side. If records differ from this size by more than 3 % and by more
  /// than a pixel of level 0, the slide can't be read, except with `Slides::coords_of_any_size`. Default (0): the size
  /// is not known, and not checked.
  double size = 0;
  std::int32_t level = 0;  ///< the stored level that `size` counts pixels of
  /// Pixels of level 0 per pixel of `level`, on each side. Default (0): the quotient of the levels' sizes.
  double downsample = 0;
  /// Size of the slide, in pixels of level 0. If the slide has another size, the slide can't be read. A difference of
  /// less than `downsample` pixels is accepted. Default (0): the size is not known, and not checked.
  std::int64_t slide_width = 0, slide_height = 0;
  std::string file = {};  ///< the file that the list was read from, for errors
};

}  // namespace penstock
