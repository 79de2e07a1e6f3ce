// OpenSlide, found when the program runs: only slides that need it do.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace penstock::slide {

/// OpenSlide's own types, of which only pointers are used.
struct OpenSlideHandle;
struct OpenSlideCache;

/// Its functions, by the names that they have there. Those of version 4 may be null.
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
  /// Before version 4, libtiff is asked for whole tiles where a level has less than one, and tiles that are left out
  /// are errors.
  bool is_before_4() const;
};

/// OpenSlide as it was found when this was first called: the file that the environment variable PENSTOCK_OPENSLIDE
/// names, else libopenslide.so.1, which is version 4, else libopenslide.so.0. Null where there is none. It stays
/// loaded. Any thread.
const OpenSlideLibrary* openslide_library();

/// Its version, or "none".
std::string openslide_version();

/// What a user does who needs version 4: "say in PENSTOCK_OPENSLIDE where version 4 is".
std::string take_version_4();

/// Why there is none, and what to do: "OpenSlide isn't there; install Debian's libopenslide0 ...".
std::string without_openslide();

}  // namespace penstock::slide
