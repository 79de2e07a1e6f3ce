#pragma once

#include <string>
#include <vector>

#include <penstock/pipeline.hpp>
#include <penstock/sources/slide.hpp>

#include "slides/slide_pictures.hpp"
#include "tile/run_folder.hpp"
#include "tile/tile_flags.hpp"

namespace penstock::cli {

/// Where the report of the store that --out names lies.
std::string report_folder(const TileFlags& flags);

/// Before slides are opened: @throws what an earlier run of the store that --out names forbids.
void check_earlier_run(const TileFlags& flags);

/// What is not among the records, a line each.
std::vector<std::string> left_out_of(const TileFlags& flags, const SlideSource& source);

/// The stages that make what is stored of a slide's records.
Pipeline tiles_of(const TileFlags& flags, const SlideSource& source);

/// Lists of the tiles, for CLAM and TRIDENT, in the folder `flags.coords`.
void write_lists(const TileFlags& flags, const SlideSource& source, Json& result);

/// Keeps a report of slides that have no tile for the store that --out names, in `folder`, which has been taken.
/// Returns the exit status.
int write_no_tiles(const TileFlags& flags, const SlideSource& source, RunFolder& folder);

/// Writes the tiles into the store that --out names, tells what was done, and keeps a report beside it. Bad tiles and
/// slides are left out, and stay so in later runs. Returns the exit status. `folder` has been
/// taken; `pictures` may be null.
int write_tiles(const TileFlags& flags, const SlideSource& source, RunFolder& folder, const SlidePictures* pictures);

}  // namespace penstock::cli
