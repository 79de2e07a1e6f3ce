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

/// @throws Error(corrupt) where OpenSlide can't open the file, with its words.
OwnedHandle open_handle(const OpenSlideLibrary& library, const std::string& path);

/// What OpenSlide knows of a file. A level is `unreadable` where OpenSlide would give wrong pixels: where it is stored
/// turned, or before version 4 where libtiff decodes it and it is smaller than a tile. @throws Error(unsupported) where
/// OpenSlide doesn't know the format, or level 0 is unreadable; Error(corrupt) where it can't open the file.
Pyramid read_through_openslide(const OpenSlideLibrary& library, const std::string& path, const TilesOfOpenSlide& tiles);

}  // namespace penstock::slide
