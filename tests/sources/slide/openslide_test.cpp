// SPDX-License-Identifier: Apache-2.0
// Pixels are those that OpenSlide reads, and what other people's files make of it.
#include <penstock/sources/slide.hpp>

#include <openslide.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <penstock/penstock.hpp>

#include "sources/slide/slide_files.hpp"
#include "sources/source_checks.hpp"
#include "sources/temp_folder.hpp"
#include "support/catch.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace penstock;
using namespace penstock_test;

namespace {

struct CloseSlide {
  void operator()(openslide_t* slide) const { openslide_close(slide); }
};
using OpenSlide = std::unique_ptr<openslide_t, CloseSlide>;

// Every record against OpenSlide's; how many there are.
std::uint64_t compare(const std::string& path, const Slides& options) {
  const OpenSlide slide(openslide_open(path.c_str()));
  REQUIRE(slide != nullptr);
  REQUIRE(openslide_get_error(slide.get()) == nullptr);
  const SlideSource source(options);
  REQUIRE_FALSE(source.slides().front().failure.has_value());
  std::int64_t width = 0, height = 0;
  openslide_get_level0_dimensions(slide.get(), &width, &height);
  CHECK(source.slides().front().width == width);
  CHECK(source.slides().front().height == height);
  std::vector<std::uint32_t> argb;
  for (std::uint64_t i = 0; i < source.size(); ++i) {
    const OwnedSample sample = read_sample(source, i);
    const TensorView image = sample["image"];
    argb.resize(static_cast<std::size_t>(image.shape[0] * image.shape[1]));
    openslide_read_region(slide.get(), argb.data(), *sample["x"].as<std::int64_t, 0>().data(),
                          *sample["y"].as<std::int64_t, 0>().data(), 0, image.shape[1], image.shape[0]);
    REQUIRE(openslide_get_error(slide.get()) == nullptr);
    std::uint64_t different = 0;
    const auto* rgb = reinterpret_cast<const std::uint8_t*>(image.data);
    for (const std::uint32_t pixel : argb) {
      different += rgb[0] != (pixel >> 16 & 255) || rgb[1] != (pixel >> 8 & 255) || rgb[2] != (pixel & 255);
      rgb += 3;
    }
    CAPTURE(path, source.key(i));
    REQUIRE(different == 0);
  }
  return source.size();
}

}  // namespace

TEST_CASE("level 0 equals OpenSlide's, of slides that are written here") {
  const TempFolder folder;
  for (const bool big_endian : {false, true})
    for (const bool rgb : {false, true}) {
      SlideForm form{
          .width = 500, .height = 300, .tile_width = 240, .tile_height = 240, .rgb = rgb, .big_endian = big_endian};
      if (rgb) form.luma = {1, 1};
      form.big_tiff = big_endian || rgb;  // OpenSlide 3.4.1 opens no classic TIFF of big-endian numbers
      const std::string path = folder / "a.tif";
      write_slide(path, form);
      CAPTURE(rgb, big_endian);
      CHECK(compare(path, {.files = path, .size = 240, .edges = SlideEdges::shrink}) == 6);
      CHECK(compare(path, {.files = path, .size = 100, .stride = 90, .edges = SlideEdges::shrink}) > 6);
    }
}

TEST_CASE("level 0 equals OpenSlide's, of real slides") {
  const char* const slides = std::getenv("PENSTOCK_SLIDES");
  if (slides == nullptr) PENSTOCK_SKIP("PENSTOCK_SLIDES names no folder: 0 slides were read");
  std::set<std::string> read;
  for (const auto& entry : std::filesystem::directory_iterator(slides)) {
    const std::string path = entry.path().string(), name = entry.path().filename().string();
    if (name.ends_with(".txt")) continue;
    const SlideSource source({.files = path, .size = 256, .edges = SlideEdges::shrink});
    CHECK(source.slides().front().why_openslide.empty());
    if (name == "osp-unreadable.svs") {
      CHECK(code_of([&] { (void)read_sample(source, 0); }) == Errc::corrupt);
      continue;
    }
    const std::int32_t tile = source.slides().front().tile_width;
    CHECK(compare(path, {.files = path, .size = tile, .edges = SlideEdges::shrink}) > 50);
    CHECK(compare(path, {.files = path, .size = 224, .stride = 200, .edges = SlideEdges::shrink}) > 0);
    read.insert(name);
  }
  CHECK(read == std::set<std::string>{"CMU-1-Small-Region.svs", "cmu-pyr-jpeg420-256.tif", "synth-aperio-33003.svs",
                                      "tiled-jpeg-rgb-u8.tif"});
}

TEST_CASE("a slide whose tiles can't be read, among good ones") {
  const char* const slides = std::getenv("PENSTOCK_SLIDES");
  if (slides == nullptr) PENSTOCK_SKIP("PENSTOCK_SLIDES names no folder: 0 slides were read");
  const std::string folder = slides;
  const Slides three{.paths = {folder + "/CMU-1-Small-Region.svs", folder + "/osp-unreadable.svs",
                               folder + "/cmu-pyr-jpeg420-256.tif"},
                     .size = 128,
                     .edges = SlideEdges::pad};
  const SlideSource source(three);
  REQUIRE(source.slides()[1].records > 0);
  const std::uint64_t good = source.size() - source.slides()[1].records;
  const auto rows = [&](OnError policy) {
    Loader loader(from(three) | on_error({.policy = policy}) | batch(10), {.threads = 2, .epochs = 1});
    std::uint64_t rows = 0;
    while (const std::optional<Batch> batch = loader.next()) rows += batch->size();
    return rows;
  };
  const Error error = error_of([&] { rows(OnError::fail); });
  CHECK(error.code() == Errc::corrupt);
  CHECK(error.file() == folder + "/osp-unreadable.svs");
  CHECK(rows(OnError::drop) == good);
  CHECK(rows(OnError::mask) == source.size());
  CHECK(rows(OnError::replace) == source.size());
}

}  // namespace PENSTOCK_TEST_FILE
