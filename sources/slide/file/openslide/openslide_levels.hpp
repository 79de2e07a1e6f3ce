// SPDX-License-Identifier: Apache-2.0
// Opens slides with OpenSlide, and describes their levels.
#pragma once

#include <memory>
#include <string>

#include "file/openslide/openslide_library.hpp"
#include "file/pyramid.hpp"
#include "file/tiff/tiff_levels.hpp"

namespace penstock::slide {

struct CloseHandle {
  const OpenSlideLibrary* library;
  void operator()(OpenSlideHandle* handle) const noexcept { library->close(handle); }
};
using OwnedHandle = std::unique_ptr<OpenSlideHandle, CloseHandle>;

/// Opens a slide. @throws Error(corrupt) if OpenSlide can't open the file. The error has OpenSlide's message, if there
/// is one.
OwnedHandle open_handle(const OpenSlideLibrary& library, const std::string& path);

/// Describes a slide as OpenSlide reports it. Sets `unreadable` of each level of which OpenSlide would give wrong
/// pixels. These are levels whose images are stored mirrored or turned. With OpenSlide before version 4, they are also
/// the levels that are narrower or less high than a tile, if libtiff decodes tiles of the file.
/// @throws Error(unsupported) if OpenSlide doesn't know the format, a level has an impossible size, or level 0 is
/// unreadable; Error(corrupt) if OpenSlide can't open the file, or finds no level.
Pyramid read_through_openslide(const OpenSlideLibrary& library, const std::string& path, const TilesOfOpenSlide& tiles);

}  // namespace penstock::slide
