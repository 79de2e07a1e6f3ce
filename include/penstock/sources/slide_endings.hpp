// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include <penstock/extend/listing.hpp>

namespace penstock {

/// Endings of slides' files, in lower case. Endings of formats that neither Penstock nor OpenSlide reads are included,
/// so that opening such a file reports why it can't be read. Endings of plain pictures, like .jp2, are not included,
/// because a thumbnail next to slides is not a slide.
inline constexpr std::array<std::string_view, 21> slide_endings{
    ".svs", ".tif", ".tiff",   ".ndpi", ".mrxs",    ".scn", ".bif",  ".svslide", ".vms", ".vmu", ".dcm",
    ".czi", ".btf", ".qptiff", ".vsi",  ".isyntax", ".kfb", ".sdpc", ".tmap",    ".mds", ".zvi"};

/// Returns true if a path has the ending of a slide's file, in upper or lower case: "A/1.SVS".
inline bool names_slide(std::string_view path) noexcept {
  return std::ranges::any_of(slide_endings, [&](std::string_view ending) { return has_ending(path, ending); });
}

}  // namespace penstock
