// SPDX-License-Identifier: Apache-2.0
// Slides that OpenSlide reads.
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

/// @throws Error(corrupt) with OpenSlide's message if it can't open the file.
OwnedHandle open_handle(const OpenSlideLibrary& library, const std::string& path);

/// Returns what OpenSlide knows of a file. A level is `unreadable` if OpenSlide would give wrong pixels. That is so if
/// the level is stored turned. Before version 4 it is also so if libtiff decodes the level and the level is smaller
/// than a tile.
/// @throws Error(unsupported) if OpenSlide doesn't know the format, or level 0 is unreadable; Error(corrupt) if it
/// can't open the file.
Pyramid read_through_openslide(const OpenSlideLibrary& library, const std::string& path, const TilesOfOpenSlide& tiles);

}  // namespace penstock::slide
