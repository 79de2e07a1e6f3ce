// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <penstock/pipeline.hpp>
#include <penstock/sources/slide.hpp>

#include "slides/slide_pictures.hpp"
#include "tile/tile_flags.hpp"

namespace penstock::cli {

/// Describes what a run would do, without writing. Returns the exit status. `pictures` may be null.
int tell_what_would_be(const TileFlags& flags, const SlideSource& source, const Pipeline& tiles,
                       const SlidePictures* pictures);

}  // namespace penstock::cli
