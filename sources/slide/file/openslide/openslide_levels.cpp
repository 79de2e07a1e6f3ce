// SPDX-License-Identifier: Apache-2.0
#include "file/openslide/openslide_levels.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "file/errors.hpp"
#include "file/text_number.hpp"

namespace penstock::slide {

namespace {

double number_of_property(const OpenSlideLibrary& library, OpenSlideHandle* handle, const std::string& name) {
  const char* const text = library.get_property_value(handle, name.c_str());
  if (text == nullptr) return 0;
  return std::max(number_in(text).value_or(0), 0.0);
}

std::int32_t side_of_tile(const OpenSlideLibrary& library, OpenSlideHandle* handle, std::int32_t level,
                          const char* side) {
  const double value =
      number_of_property(library, handle, "openslide.level[" + std::to_string(level) + "].tile-" + side);
  return value < 65536 ? static_cast<std::int32_t>(value) : 0;
}

std::string why_unreadable(const OpenSlideLibrary& library, const Level& level, const TilesOfOpenSlide& tiles) {
  for (const TilesOfOpenSlide::Size& turned : tiles.turned)
    if (turned.width == level.width && turned.height == level.height) return "it is stored mirrored or turned";
  if (!tiles.by_libtiff || !library.is_before_4()) return {};
  // If the level is smaller than a tile, libtiff writes rows as long as the level's, but OpenSlide reads rows as long
  // as a tile's.
  if (level.width >= level.tile_width && level.height >= level.tile_height) return {};
  const auto size = [](std::int64_t width, std::int64_t height) {
    return std::to_string(width) + "x" + std::to_string(height);
  };
  return "OpenSlide " + library.version() + " gives wrong pixels of a level of " + size(level.width, level.height) +
         ", which is less than a tile of " + size(level.tile_width, level.tile_height) + "; " + version_4_advice();
}

// Returns a property's number of pixels; 0 if the property is missing, or its value is impossible.
std::int64_t pixels_of_property(const OpenSlideLibrary& library, OpenSlideHandle* handle, const char* name) {
  const char* const text = library.get_property_value(handle, name);
  constexpr double most = 2147483647;
  const double value = text == nullptr ? 0 : number_in(text).value_or(0);
  return std::abs(value) <= most ? static_cast<std::int64_t>(value) : 0;
}

SlideBounds bounds_of(const OpenSlideLibrary& library, OpenSlideHandle* handle) {
  return {.x = pixels_of_property(library, handle, "openslide.bounds-x"),
          .y = pixels_of_property(library, handle, "openslide.bounds-y"),
          .width = pixels_of_property(library, handle, "openslide.bounds-width"),
          .height = pixels_of_property(library, handle, "openslide.bounds-height")};
}

}  // namespace

OwnedHandle open_handle(const OpenSlideLibrary& library, const std::string& path) {
  OwnedHandle handle(library.open(path.c_str()), CloseHandle{&library});
  if (handle == nullptr) throw error_in(path, Errc::corrupt, "OpenSlide can't open it");
  if (const char* const why = library.get_error(handle.get()); why != nullptr)
    throw error_in(path, Errc::corrupt, std::string("OpenSlide can't open it: ") + printable(why));
  return handle;
}

Pyramid read_through_openslide(const OpenSlideLibrary& library, const std::string& path,
                               const TilesOfOpenSlide& tiles) {
  if (library.detect_vendor(path.c_str()) == nullptr)
    throw error_in(path, Errc::unsupported,
                   "OpenSlide " + library.version() + " doesn't know it either" +
                       (tiles.by_version_4 && library.is_before_4() ? "; " + version_4_advice() : ""));
  const OwnedHandle handle = open_handle(library, path);
  Pyramid pyramid;
  for (std::int32_t i = 0; i < library.get_level_count(handle.get()); ++i) {
    Level level;
    level.codec = SlideCodec::openslide;
    library.get_level_dimensions(handle.get(), i, &level.width, &level.height);
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    if (level.width < 1 || level.height < 1 || level.width > most || level.height > most)
      throw error_in(path, Errc::unsupported,
                     "its level " + std::to_string(i) + " has " + std::to_string(level.width) + "x" +
                         std::to_string(level.height) + " pixels");
    level.tile_width = side_of_tile(library, handle.get(), i, "width");
    level.tile_height = side_of_tile(library, handle.get(), i, "height");
    level.unreadable = why_unreadable(library, level, tiles);
    if (i == 0 && !level.unreadable.empty()) throw error_in(path, Errc::unsupported, level.unreadable);
    const Level& first = pyramid.levels.empty() ? level : pyramid.levels.front();
    level.has_whole_pixels = first.width % level.width == 0 && first.height % level.height == 0 &&
                             first.width / level.width == first.height / level.height;
    pyramid.levels.push_back(std::move(level));
  }
  if (pyramid.levels.empty()) throw error_in(path, Errc::corrupt, "OpenSlide finds no level in it");
  const double x = number_of_property(library, handle.get(), "openslide.mpp-x");
  const double y = number_of_property(library, handle.get(), "openslide.mpp-y");
  if (plausible_mpp(x, y)) {
    pyramid.resolution.mpp_x = x;
    pyramid.resolution.mpp_y = y;
  } else if (x != 0 || y != 0) {
    pyramid.resolution.refused =
        "OpenSlide says " + std::to_string(x) + " x " + std::to_string(y) + " micrometres, which can't be";
  }
  pyramid.resolution.magnification = number_of_property(library, handle.get(), "openslide.objective-power");
  pyramid.bounds = bounds_of(library, handle.get());
  return pyramid;
}

}  // namespace penstock::slide
