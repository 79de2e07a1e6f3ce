// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <penstock/detail/export.hpp>
#include <penstock/sources/slide.hpp>
#include <penstock/write.hpp>

namespace penstock {

/// Saves what opening slides finds, for `Slides::index`: facts about the files, which places are records, which classes
/// they show, and how slides are stained. This takes as long as opening the slides once:
///
///     const Slides slides{.files = "cohort/*.svs", .mpp = 0.5, .tissue = {.by = SlideTissue::By::saturation}};
///     write_slide_index(slides, "cohort.tiles");
///
/// The file `path` takes a few hundred bytes per slide, and a bit per place of the slide's grid. For a slide with a
/// list of places, each record takes 8 bytes. With `SlideRegions::field`, each record takes as many bits more as the
/// slide's number of classes needs. Only machines with the same byte order can read the file. The index finds slides by
/// their names, so a cohort that was copied or moved needs no new index. The size and some bytes of each file are
/// compared; times are not.
///
/// Opens slides on `options.threads` threads; 0 means all cores. `options.progress` counts slides. If a run was stopped
/// or killed, the same call continues it. Until the index is complete, its name is `path` + ".partial".
///
/// If `path` is an index with the same options, its facts about unchanged files are kept. So bringing an index up to
/// date takes only the time to open new and changed slides. Slides that can't be read are in the index with their
/// errors. The next call tries these slides again.
/// @throws what `SlideSource` throws if the options can't work.
/// @throws Error(invalid_argument) if another process is making the index.
/// @throws Error(io).
PENSTOCK_API WriteProgress write_slide_index(const Slides& slides, const std::string& path,
                                             const WriteOptions& options = {});

}  // namespace penstock
