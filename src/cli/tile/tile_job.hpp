// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <penstock/pipeline.hpp>
#include <penstock/sources/slide.hpp>

#include "slides/slide_pictures.hpp"
#include "tile/run_folder.hpp"
#include "tile/tile_flags.hpp"

namespace penstock::cli {

/// Returns the folder of the report of the store that --out names.
std::string report_folder(const TileFlags& flags);

/// Call before slides are opened. @throws if an earlier run wrote to the store that --out names, and this run must not
/// continue it.
void check_earlier_run(const TileFlags& flags);

/// Lists what is not among the records, in a line each.
std::vector<std::string> left_out_of(const TileFlags& flags, const SlideSource& source);

/// Returns the pipeline that makes the stored values of the slides' records.
Pipeline tiles_of(const TileFlags& flags, const SlideSource& source);

/// Writes lists of the tiles, for CLAM and TRIDENT, to the folder `flags.coords`.
void write_lists(const TileFlags& flags, const SlideSource& source, Json& result);

/// Keeps a report of slides without any tile, in `folder`, for the store that --out names. `folder` must be taken.
/// Returns the exit status.
int write_no_tiles(const TileFlags& flags, const SlideSource& source, RunFolder& folder);

/// Writes the tiles into the store that --out names, prints what was done, and keeps a report next to the store. Leaves
/// out bad tiles and slides, unless --on-error is fail. Later runs leave them out again, unless --retry is given.
/// `folder` must be taken; `pictures` may be null. Returns the exit status.
int write_tiles(const TileFlags& flags, const SlideSource& source, RunFolder& folder, const SlidePictures* pictures);

}  // namespace penstock::cli
