// SPDX-License-Identifier: Apache-2.0
#include "file/openslide/openslide_library.hpp"

#include <dlfcn.h>

#include <charconv>
#include <cstdlib>
#include <initializer_list>
#include <optional>

#include <penstock/extend/system_error.hpp>

namespace penstock::slide {

namespace {

constexpr const char* variable = "PENSTOCK_OPENSLIDE";

template <class Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  return function != nullptr;
}

struct Loaded {
  std::optional<OpenSlideLibrary> library;
  std::string why_not;
};

void* open_any(std::string& why_not) {
  // If the variable is set, no other library is tried, so that a wrong value is noticed.
  if (const char* const named = std::getenv(variable); named != nullptr && *named != '\0') {
    void* const library = ::dlopen(named, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) why_not = std::string(variable) + " names a library that can't be loaded: " + ::dlerror();
    return library;
  }
  for (const char* const name : {"libopenslide.so.1", "libopenslide.so.0"})
    if (void* const library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL); library != nullptr) return library;
  why_not = "OpenSlide isn't there";
  return nullptr;
}

Loaded load() {
  Loaded loaded;
  void* const library = open_any(loaded.why_not);
  if (library == nullptr) return loaded;
  OpenSlideLibrary all;
  const bool complete = find(library, "openslide_detect_vendor", all.detect_vendor) &&
                        find(library, "openslide_open", all.open) && find(library, "openslide_close", all.close) &&
                        find(library, "openslide_get_error", all.get_error) &&
                        find(library, "openslide_get_level_count", all.get_level_count) &&
                        find(library, "openslide_get_level_dimensions", all.get_level_dimensions) &&
                        find(library, "openslide_get_property_value", all.get_property_value) &&
                        find(library, "openslide_read_region", all.read_region) &&
                        find(library, "openslide_get_version", all.get_version);
  if (!complete) {
    loaded.why_not = "the library of OpenSlide that was found is older than 3.4.1, or another";
    return loaded;
  }
  find(library, "openslide_cache_create", all.cache_create);
  find(library, "openslide_set_cache", all.set_cache);
  find(library, "openslide_cache_release", all.cache_release);
  loaded.library = all;
  return loaded;
}

const Loaded& loaded() {
  static const Loaded once = load();
  return once;
}

}  // namespace

const OpenSlideLibrary* openslide_library() {
  const Loaded& found = loaded();
  return found.library ? &*found.library : nullptr;
}

bool OpenSlideLibrary::is_before_4() const {
  const std::string text = version();
  int major = 0;
  std::from_chars(text.data(), text.data() + text.size(), major);
  return major < 4;
}

std::string openslide_version() {
  const OpenSlideLibrary* const library = openslide_library();
  return library == nullptr ? "none" : library->version();
}

std::string version_4_advice() { return std::string("say in ") + variable + " where OpenSlide 4 is"; }

std::string without_openslide() {
  return printable(loaded().why_not, 300) + "; install Debian's libopenslide0, or say in " + variable +
         " where the library is";
}

}  // namespace penstock::slide
