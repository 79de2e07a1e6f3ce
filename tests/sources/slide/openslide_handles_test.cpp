// SPDX-License-Identifier: Apache-2.0
// How many handles of OpenSlide are open, and for how long. In a program of its own: the library is found once.
#include <penstock/sources/slide.hpp>

#include <dlfcn.h>

#include <cstdlib>
#include <string>
#include <vector>

#include <penstock/penstock.hpp>
#include <penstock/sources/slide_index.hpp>

#include "sources/slide/slide_files.hpp"
#include "sources/slide/slide_images.hpp"
#include "sources/source_checks.hpp"
#include "sources/temp_folder.hpp"
#include "support/catch.hpp"
#include "support/paths.hpp"

using namespace penstock;
using namespace penstock_test;

namespace {

// The library that counts, which the source is told to take.
class Counts {
 public:
  Counts() {
    ::setenv("PENSTOCK_OPENSLIDE", path_of("counting_openslide").c_str(), 1);
    library_ = ::dlopen(path_of("counting_openslide").c_str(), RTLD_NOW | RTLD_LOCAL);
    REQUIRE(library_ != nullptr);
    most_open();
    opened();
  }
  int open_now() const { return call("counting_open_now"); }
  int most_open() const { return call("counting_most_open"); }  // since it was asked last
  int opened() const { return call("counting_opened"); }        // likewise

 private:
  int call(const char* name) const { return reinterpret_cast<int (*)()>(::dlsym(library_, name))(); }
  void* library_;
};

SlideForm plain_pixels(std::uint64_t seed) {
  SlideForm form{.width = 200, .height = 150, .seed = seed};
  form.lower = {{50, 37}};  // OpenSlide reads the last level when it opens a file
  return openslide_form(form);
}

}  // namespace

TEST_CASE("no more handles stay open than their caches may have bytes, and none after the source") {
  const Counts counts;
  const TempFolder folder;
  Slides options{.size = 50};
  for (std::uint64_t i = 0; i < 6; ++i)
    options.paths.push_back(write_slide(folder / ("a" + std::to_string(i) + ".tif"), plain_pixels(i)).path);
  for (const auto& [bytes, files, most] : {std::tuple(std::size_t{1}, std::size_t{128}, 1),
                                           {std::size_t{64} << 20, std::size_t{128}, 2},
                                           {std::size_t{1} << 30, std::size_t{3}, 3},
                                           {std::size_t{1} << 30, std::size_t{128}, 6}}) {
    options.max_openslide_bytes = bytes;
    options.max_open_files = files;
    {
      const SlideSource source(options);
      CHECK(counts.open_now() == 0);
      counts.most_open();
      counts.opened();
      for (int round = 0; round < 2; ++round)
        for (std::uint64_t i = 0; i < source.size(); ++i) (void)read_sample(source, i);
      CAPTURE(bytes, files);
      CHECK(counts.open_now() == most);
      // One more while it is in use.
      CHECK(counts.most_open() <= most + 1);
      // All of a slide's records by one handle; in the second round again where it could not stay.
      CHECK(counts.opened() == (most == 6 ? 6 : 12));
    }
    CHECK(counts.open_now() == 0);
  }
}

TEST_CASE("a handle that met an error is closed, and the slide opened anew") {
  const Counts counts;
  const TempFolder folder;
  const WrittenSlide slide = write_slide(folder / "a.tif", plain_pixels(1));
  slide.set_offset(0, std::uint64_t{1} << 30);
  const SlideSource source({.files = slide.path, .size = 64});
  REQUIRE_NOTHROW(read_sample(source, 1));
  counts.opened();
  CHECK(counts.open_now() == 1);
  CHECK(code_of([&] { (void)read_sample(source, 0); }) == Errc::corrupt);
  CHECK(counts.open_now() == 0);
  CHECK(counts.opened() == 0);
  REQUIRE_NOTHROW(read_sample(source, 1));
  CHECK(counts.opened() == 1);
}

TEST_CASE("what another version of OpenSlide read is not taken for what this one reads") {
  const TempFolder folder;
  const Counts counts;
  write_slide(folder / "a.tif", plain_pixels(1));
  write_slide(folder / "b.tif", SlideForm{});
  const Slides slides{.files = folder / "*.tif", .size = 64};
  const std::string path = folder / "slides.index";
  Slides indexed = slides;
  indexed.index = path;
  ::setenv("COUNTING_OPENSLIDE_VERSION", "4.0.0", 1);
  CHECK(write_slide_index(slides, path).done == 2);
  CHECK(SlideSource(indexed).slides()[0].openslide == "4.0.0");
  CHECK(SlideSource(indexed).slides()[1].openslide.empty());
  const std::uint64_t by_4 = SlideSource(slides).identity();
  CHECK(SlideSource(indexed).identity() == by_4);
  ::setenv("COUNTING_OPENSLIDE_VERSION", "4.0.1", 1);
  CHECK(SlideSource(slides).identity() != by_4);
  const Error error = error_of([&] { SlideSource source(indexed); });
  CHECK(error.code() == Errc::invalid_argument);
  CHECK(error.file() == path);
  CHECK(mentions(error, "slide a was read by OpenSlide 4.0.0, and this is 4.0.1; make the index anew"));
  // Only what it has read is made anew.
  counts.opened();
  CHECK(write_slide_index(slides, path).done == 2);
  CHECK(counts.opened() == 1);
  CHECK(SlideSource(indexed).slides()[0].openslide == "4.0.1");
  CHECK(write_slide_index(slides, path).done == 2);
  CHECK(counts.opened() == 0);
  ::unsetenv("COUNTING_OPENSLIDE_VERSION");
}
