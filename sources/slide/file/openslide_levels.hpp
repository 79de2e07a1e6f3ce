// Slides that OpenSlide reads.
#pragma once

#include <memory>
#include <string>

#include "file/openslide_library.hpp"
#include "file/pyramid.hpp"
#include "file/tiff_levels.hpp"

namespace penstock::slide {

struct CloseHandle {
  const OpenSlideLibrary* library;
  void operator()(OpenSlideHandle* handle) const noexcept { library->close(handle); }
};
using OwnedHandle = std::unique_ptr<OpenSlideHandle, CloseHandle>;

/// @throws Error(corrupt) where OpenSlide can't open the file, with its words.
OwnedHandle open_handle(const OpenSlideLibrary& library, const std::string& path);

/// What OpenSlide knows of a file. Levels of which it would give wrong pixels can't be read: those that are stored
/// turned, and before version 4 those that libtiff decodes and that are smaller than a tile. @throws Error(unsupported)
/// where it knows no such format, and where level 0 is such a level; Error(corrupt) where it can't open it.
Pyramid read_through_openslide(const OpenSlideLibrary& library, const std::string& path, const TilesOfOpenSlide& tiles);

}  // namespace penstock::slide
