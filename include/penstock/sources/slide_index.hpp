// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <penstock/detail/export.hpp>
#include <penstock/sources/slide.hpp>
#include <penstock/write.hpp>

namespace penstock {

/// Saves what opening slides finds, for `Slides::index`: also masks of tissue, regions and stains. It takes as long as
/// opening the slides, once:
///
///     const Slides slides{.files = "cohort/*.svs", .mpp = 0.5, .tissue = {.by = SlideTissue::By::saturation}};
///     write_slide_index(slides, "cohort.tiles");
///
/// The file `path` takes a few hundred bytes per slide and a bit per place of its grid. With `SlideRegions::field`, it
/// also takes the bits per record that the number of the slide's classes needs. Only machines of the same byte order
/// can read it. The index knows slides by their names, so a cohort that was copied, or moved, needs no other index. The
/// size and some bytes of each file are compared; times are not.
///
/// Opens slides on `options.threads` threads; 0 means all cores. `options.progress` counts slides. The same call
/// continues a run that was stopped or killed. Until the index is complete, its name is `path` + ".partial".
///
/// If `path` exists, it keeps what it has about files that are the same. So an index is brought up to date in the time
/// that new slides take. Slides that can't be read are in the index with their errors. The next call tries them again.
/// @throws as `SlideSource`, if the options can't work.
/// @throws Error(invalid_argument) if another process is making the index.
/// @throws Error(io).
PENSTOCK_API WriteProgress write_slide_index(const Slides& slides, const std::string& path,
                                             const WriteOptions& options = {});

}  // namespace penstock
