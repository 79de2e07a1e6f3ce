// SPDX-License-Identifier: Apache-2.0
// Loads OpenSlide at run time, for slides that need it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace penstock::slide {

/// OpenSlide's own types, used only through pointers.
struct OpenSlideHandle;
struct OpenSlideCache;

/// OpenSlide's functions. Their names are OpenSlide's, without the prefix "openslide_". Functions that only version 4
/// has are null in older versions.
struct OpenSlideLibrary {
  const char* (*detect_vendor)(const char* path);
  OpenSlideHandle* (*open)(const char* path);
  void (*close)(OpenSlideHandle* slide);
  const char* (*get_error)(OpenSlideHandle* slide);
  std::int32_t (*get_level_count)(OpenSlideHandle* slide);
  void (*get_level_dimensions)(OpenSlideHandle* slide, std::int32_t level, std::int64_t* width, std::int64_t* height);
  const char* (*get_property_value)(OpenSlideHandle* slide, const char* name);
  void (*read_region)(OpenSlideHandle* slide, std::uint32_t* to, std::int64_t x, std::int64_t y, std::int32_t level,
                      std::int64_t width, std::int64_t height);
  const char* (*get_version)();
  OpenSlideCache* (*cache_create)(std::size_t bytes) = nullptr;
  void (*set_cache)(OpenSlideHandle* slide, OpenSlideCache* cache) = nullptr;
  void (*cache_release)(OpenSlideCache* cache) = nullptr;

  bool has_shared_cache() const noexcept {
    return cache_create != nullptr && set_cache != nullptr && cache_release != nullptr;
  }
  std::string version() const { return get_version(); }
  /// Returns whether OpenSlide is older than version 4. Older versions give wrong pixels of a level that is smaller
  /// than a tile, if libtiff decodes the level. They report an error for a tile that the file leaves out.
  bool is_before_4() const;
};

/// Returns the OpenSlide library that the first call found; null if it found none. The environment variable
/// PENSTOCK_OPENSLIDE names the library's file. If the variable is empty or not set, the first call tries
/// libopenslide.so.1, which is version 4, then libopenslide.so.0. The library stays loaded. Any thread.
const OpenSlideLibrary* openslide_library();

/// Returns OpenSlide's version; "none" if OpenSlide was not found.
std::string openslide_version();

/// Returns what a user who needs version 4 must do: "say in PENSTOCK_OPENSLIDE where OpenSlide 4 is".
std::string version_4_advice();

/// Returns why OpenSlide was not found, and what to do: "OpenSlide isn't there; install Debian's libopenslide0 ...".
std::string without_openslide();

}  // namespace penstock::slide
