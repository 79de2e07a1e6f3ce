#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace penstock {

/// Places of one slide that somebody chose: a list in the place of a grid. `read_coords` (penstock/sources/coords.hpp)
/// makes these of what CLAM and TRIDENT write.
struct SlideCoords {
  /// The slide: its name (`SlideInfo::name`), or what stands after the last '/' of it, where that is no other slide's;
  /// or the name of its file without the last ending. Where no slide is called so, `_patches` at its end, which TRIDENT
  /// puts there, does not count.
  std::string slide = {};
  std::vector<std::array<std::int32_t, 2>> at = {};  ///< x and y of each one's top left pixel, at level 0
  /// How large a place is, for a check that records show as much: pixels of `level` on each side. 0: it isn't said.
  double size = 0;
  std::int32_t level = 0;  ///< a stored level
  /// Pixels of level 0 that one of `level` has on each side. 0: as many as that level of the slide has.
  double downsample = 0;
  /// How many pixels the slide's level 0 has, for a check that the list is of this slide. It may be so much off as one
  /// pixel of `level` is. 0: it isn't said.
  std::int64_t slide_width = 0, slide_height = 0;
  std::string file = {};  ///< the file that says so, for errors
};

}  // namespace penstock
