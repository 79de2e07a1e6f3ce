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

/// Checks whether this run may use the report's folder. If there is a store of an earlier run, also checks whether this
/// run may continue it. Call before slides are opened. @throws Error or UsageError if a check fails.
void check_earlier_run(const TileFlags& flags);

/// Returns lines that describe what is not among the records.
std::vector<std::string> left_out_of(const TileFlags& flags, const SlideSource& source);

/// Returns the pipeline that makes the stored values of the slides' records.
Pipeline tiles_of(const TileFlags& flags, const SlideSource& source);

/// Writes lists of the tiles, for CLAM and TRIDENT, to the folder `flags.coords`. Adds counts and remarks to `result`.
void write_lists(const TileFlags& flags, const SlideSource& source, Json& result);

/// Writes a report of slides without any tile into `folder`, but no store. `folder` must be taken. Returns the exit
/// status.
int write_no_tiles(const TileFlags& flags, const SlideSource& source, RunFolder& folder);

/// Writes the tiles into the store that --out names, prints what was done, and keeps a report in `folder`. Leaves out
/// bad tiles and slides, unless --on-error is fail. Later runs leave them out again, unless --retry is given. `folder`
/// must be taken. `pictures` may be null. Returns the exit status.
int write_tiles(const TileFlags& flags, const SlideSource& source, RunFolder& folder, const SlidePictures* pictures);

}  // namespace penstock::cli
