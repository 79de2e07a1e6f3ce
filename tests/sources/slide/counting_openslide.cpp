// SPDX-License-Identifier: Apache-2.0
// OpenSlide with its handles counted, and a version that can be told: every call goes to the library that is installed.
#include <dlfcn.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

std::atomic<int> open_now{0}, most_open{0}, opened{0};

template <class Function>
Function real(const char* name) {
  static void* const library = ::dlopen("libopenslide.so.0", RTLD_NOW | RTLD_LOCAL);
  void* const found = library != nullptr ? ::dlsym(library, name) : nullptr;
  if (found == nullptr) {
    std::fprintf(stderr, "no %s in libopenslide.so.0\n", name);
    std::abort();
  }
  return reinterpret_cast<Function>(found);
}

}  // namespace

extern "C" {

const char* openslide_detect_vendor(const char* path) {
  return real<const char* (*)(const char*)>("openslide_detect_vendor")(path);
}
void* openslide_open(const char* path) {
  void* const slide = real<void* (*)(const char*)>("openslide_open")(path);
  if (slide == nullptr) return slide;
  ++opened;
  const int now = ++open_now;
  for (int most = most_open; now > most && !most_open.compare_exchange_weak(most, now);) {
  }
  return slide;
}
void openslide_close(void* slide) {
  --open_now;
  real<void (*)(void*)>("openslide_close")(slide);
}
const char* openslide_get_error(void* slide) { return real<const char* (*)(void*)>("openslide_get_error")(slide); }
std::int32_t openslide_get_level_count(void* slide) {
  return real<std::int32_t (*)(void*)>("openslide_get_level_count")(slide);
}
void openslide_get_level_dimensions(void* slide, std::int32_t level, std::int64_t* width, std::int64_t* height) {
  real<void (*)(void*, std::int32_t, std::int64_t*, std::int64_t*)>("openslide_get_level_dimensions")(slide, level,
                                                                                                      width, height);
}
const char* openslide_get_property_value(void* slide, const char* name) {
  return real<const char* (*)(void*, const char*)>("openslide_get_property_value")(slide, name);
}
void openslide_read_region(void* slide, std::uint32_t* to, std::int64_t x, std::int64_t y, std::int32_t level,
                           std::int64_t width, std::int64_t height) {
  using Function =
      void (*)(void*, std::uint32_t*, std::int64_t, std::int64_t, std::int32_t, std::int64_t, std::int64_t);
  real<Function>("openslide_read_region")(slide, to, x, y, level, width, height);
}
const char* openslide_get_version() {
  const char* const told = std::getenv("COUNTING_OPENSLIDE_VERSION");
  return told != nullptr ? told : real<const char* (*)()>("openslide_get_version")();
}

// For the test.
int counting_open_now() { return open_now; }
int counting_most_open() { return most_open.exchange(open_now); }
int counting_opened() { return opened.exchange(0); }
}
