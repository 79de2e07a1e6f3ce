// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <penstock/sources/slide.hpp>

#include "tile/tile_flags.hpp"

namespace penstock::cli {

/// Returns the number of this rank's slides. Slides that can't be read count too.
std::size_t slides_of_rank(const SlideSource& source);

/// How many of a slide's tiles can be copied in their stored form, and why the others can't.
struct Copies {
  std::uint64_t tiles = 0;
  std::string why_not = {};
};
Copies copies_of(const TileFlags& flags, const SlideSource& source, const SlideInfo& slide);

}  // namespace penstock::cli
