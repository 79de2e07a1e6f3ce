#pragma once

#include <string>

#include <penstock/detail/export.hpp>
#include <penstock/sources/slide.hpp>
#include <penstock/write.hpp>

namespace penstock {

/// Saves what opening slides finds, masks of tissue, regions and stains included, for `Slides::index`. It takes what
/// opening them takes, once:
///
///     const Slides slides{.files = "cohort/*.svs", .mpp = 0.5, .tissue = {.by = SlideTissue::By::saturation}};
///     write_slide_index(slides, "cohort.tiles");
///
/// `path` becomes a file of some hundred bytes a slide, a bit a place of its grid, and where `SlideRegions::field` is
/// given as many bits a record as the slide's classes need. It is for machines of the same byte order. Slides are known
/// by their names, so a cohort that was copied, or moved, needs no other one: of each file the size and some bytes are
/// compared, and not its times.
///
/// Slides are opened by `options.threads`, 0 of which are as many as there are cores; `options.progress` counts them. A
/// run that was stopped or killed is continued by the same call: until the index is complete it is called `path` +
/// ".partial". Where `path` is there already, what it says of files that are the same stays, so an index is brought up
/// to date in the time that new slides take. Slides that can't be read are in it with their errors, and are tried again
/// by the next call.
/// @throws as `SlideSource` for options that can't work; Error(invalid_argument) where another process is making it;
/// Error(io).
PENSTOCK_API WriteProgress write_slide_index(const Slides& slides, const std::string& path,
                                             const WriteOptions& options = {});

}  // namespace penstock
