// SPDX-License-Identifier: Apache-2.0
// Pixels of slides through OpenSlide, whichever version: right, or refused. Links no OpenSlide, so that it can be run
// with another one than the one that is installed.
#include <penstock/sources/slide.hpp>

#include <zlib.h>

#include <cstddef>
#include <string>
#include <vector>

#include <penstock/penstock.hpp>

#include "sources/slide/slide_files.hpp"
#include "sources/slide/slide_images.hpp"
#include "sources/source_checks.hpp"
#include "sources/temp_folder.hpp"
#include "support/catch.hpp"
#include "support/thrown.hpp"

using namespace penstock;
using namespace penstock_test;

namespace {

Bytes deflated(const std::vector<std::uint8_t>& values) {
  uLongf size = compressBound(static_cast<uLong>(values.size()));
  Bytes bytes(size);
  REQUIRE(compress(reinterpret_cast<Bytef*>(bytes.data()), &size, values.data(), static_cast<uLong>(values.size())) ==
          Z_OK);
  bytes.resize(size);
  return bytes;
}

StoredTile grey_tile(const Image& tile) {
  StoredTile stored{{}, tile};
  std::vector<std::uint8_t> values;
  for (std::size_t i = 0; i < tile.pixels.size(); i += 3) {
    values.push_back(tile.pixels[i]);
    stored.pixels.pixels[i + 1] = stored.pixels.pixels[i + 2] = tile.pixels[i];
  }
  stored.stream = deflated(values);
  return stored;
}

struct Kind {
  const char* name;
  SlideForm form;
};

// Tiles that libtiff decodes for OpenSlide: three levels, of which the last is smaller than a tile.
std::vector<Kind> kinds_of_libtiff() {
  SlideForm form{.width = 500, .height = 300, .tile_width = 128, .tile_height = 128, .rgb = true};
  form.lower = {{250, 150}, {125, 75}};
  form.per_unit = 10'000;  // a micrometre a pixel
  Kind none{"none", form}, deflate{"deflate", form}, grey{"grey", form};
  deflate.form.compression = 8;
  deflate.form.encode = [](const Image& tile) { return StoredTile{deflated(tile.pixels), tile}; };
  grey.form.compression = 8;
  grey.form.samples = 1;
  grey.form.encode = grey_tile;
  for (Kind* kind : {&none, &deflate, &grey}) kind->form = openslide_form(kind->form);
  return {none, deflate, grey};
}

bool before_4(const SlideInfo& info) { return info.openslide < "4"; }

Image all_of(const std::string& path, Slides options) {
  options.files = path;
  options.size = 600;
  options.edges = SlideEdges::shrink;
  return image_of(read_sample(SlideSource(options), 0)["image"]);
}

// Stained all over but for the left third, which is glass.
Image half_stained(const ImageShape& shape) {
  Image image(shape);
  for (std::int32_t y = 0; y < shape.height; ++y)
    for (std::int32_t x = 0; x < shape.width; ++x)
      for (std::int32_t c = 0; c < 3; ++c) image.at(y, x, c) = 3 * x < shape.width ? 250 : c == 1 ? 60 : 160;
  return image;
}

}  // namespace

TEST_CASE("a level that is smaller than a tile has its own pixels, or is refused by the version that gets them wrong") {
  const TempFolder folder;
  for (const auto& [name, form] : kinds_of_libtiff()) {
    const std::string path = folder / (std::string(name) + ".tif");
    const WrittenSlide slide = write_slide(path, form);
    const SlideInfo info = SlideSource({.files = path}).slides().front();
    CAPTURE(name, info.openslide);
    REQUIRE_FALSE(info.failure.has_value());
    CHECK(info.levels.size() == 3);
    CHECK(all_of(path, {}) == slide.pixels);
    CHECK(all_of(path, {.level = 1}) == slide.lower[0]);
    const std::vector<std::string> lines = SlideSource({.files = path}).left_out();
    if (!before_4(info)) {
      CHECK(all_of(path, {.level = 2}) == slide.lower[1]);
      CHECK(lines.empty());
      continue;
    }
    const Error error = error_of([&] { all_of(path, {.level = 2}); });
    CHECK(error.code() == Errc::unsupported);
    CHECK(error.file() == path);
    CHECK(mentions(error, "its level 2 can't be read: OpenSlide " + info.openslide +
                              " gives wrong pixels of a level of 125x75, which is less than a tile of 128x128; say in "
                              "PENSTOCK_OPENSLIDE where OpenSlide 4 is"));
    REQUIRE(lines.size() == 1);
    CHECK(lines.front().starts_with("1 slide has levels that can't be read: " + path + ": OpenSlide 3."));
    // Pixels of that size are made of a level that is sound.
    const SlideInfo coarse = SlideSource({.files = path, .mpp = 4, .size = 64}).slides().front();
    CHECK(coarse.level == 1);
    CHECK(coarse.resampled);
  }
}

TEST_CASE("a slide that is smaller than a tile is read right, or refused") {
  const TempFolder folder;
  for (auto [name, form] : kinds_of_libtiff()) {
    const std::string path = folder / (std::string(name) + ".tif");
    form.width = 100;
    form.lower = {};
    const WrittenSlide slide = write_slide(path, form);
    const SlideInfo info = SlideSource({.files = path}).slides().front();
    CAPTURE(name, info.openslide);
    if (!before_4(info)) {
      CHECK(all_of(path, {}) == slide.pixels);
      continue;
    }
    for (const double mpp : {0, 1, 4}) {
      const SlideInfo refused = SlideSource({.files = path, .mpp = mpp, .size = 16}).slides().front();
      REQUIRE(refused.failure.has_value());
      CHECK(refused.failure->code() == Errc::unsupported);
      CHECK(mentions(*refused.failure, "OpenSlide " + info.openslide + " gives wrong pixels"));
    }
  }
}

TEST_CASE("a mask of tissue is made of a level that is sound") {
  const TempFolder folder;
  for (auto [name, form] : kinds_of_libtiff()) {
    if (form.samples == 1) continue;  // grey has no stain
    form.draw = half_stained;
    const std::string path = folder / (std::string(name) + ".tif");
    write_slide(path, form);
    const SlideSource source({.files = path, .size = 20, .tissue = {.by = SlideTissue::By::saturation, .mpp = 4}});
    CAPTURE(name, source.slides().front().openslide);
    for (std::uint64_t i = 0; i < source.size(); ++i) CHECK(source.place(i).x > 500 / 3 - 40);
    CHECK(source.size() >= 16 * 15);
  }
}

TEST_CASE("tiles that are left out are white and no tissue, or refused by the version that can't read them") {
  const TempFolder folder;
  for (auto [name, form] : kinds_of_libtiff()) {
    if (form.samples == 1) continue;
    form.lower = {};
    form.draw = [](const ImageShape& shape) {
      Image image(shape);
      for (std::size_t i = 0; i < image.pixels.size(); ++i) image.pixels[i] = i % 3 == 1 ? 60 : 160;
      return image;
    };
    const std::string path = folder / (std::string(name) + ".tif");
    const WrittenSlide slide = write_slide(path, form);
    for (const std::uint64_t tile : {1u, 2u}) {
      slide.set_offset(tile, 0);
      slide.set_size(tile, 0);
    }
    const SlideSource all({.files = path, .size = 128, .edges = SlideEdges::pad});
    REQUIRE(all.size() == 12);
    const SlideInfo& info = all.slides().front();
    CAPTURE(name, info.openslide);
    for (std::uint64_t i = 0; i < all.size(); ++i) {
      const bool left_out = i == 1 || i == 2;
      if (left_out && before_4(info)) {
        const Error error = error_of([&] { (void)read_sample(all, i); });
        CHECK(mentions(error, "OpenSlide can't read 128x128 pixels"));
        CHECK(mentions(error, "say in PENSTOCK_OPENSLIDE where OpenSlide 4 is"));
        continue;
      }
      const Image image = image_of(read_sample(all, i)["image"]);
      CHECK((image.pixels.front() == 255) == left_out);
    }
    // Two of its tiles, and none of what lies beside them.
    const SlideSource tissue(
        {.files = path, .size = 16, .tissue = {.by = SlideTissue::By::grey, .mpp = 4, .closing = 0, .least_area = 0}});
    CHECK(tissue.size() == 31 * 18 - 2 * 8 * 8);
  }
}

TEST_CASE("levels that are stored turned are not read, whoever decodes their tiles") {
  const TempFolder folder;
  std::vector<Kind> kinds = kinds_of_libtiff();
  kinds.push_back({"JPEG", kinds.front().form});
  kinds.back().form.compression = 7;
  kinds.back().form.entries = {};
  kinds.back().form.encode = {};
  for (auto& [name, form] : kinds)
    for (std::uint16_t orientation = 2; orientation <= 8; ++orientation) {
      form.lower_orientation = orientation;
      const std::string path = folder / (std::string(name) + ".tif");
      const WrittenSlide slide = write_slide(path, form);
      CAPTURE(name, orientation);
      CHECK(all_of(path, {}) == slide.pixels);
      for (const std::int32_t level : {1, 2}) {
        const Error error = error_of([&] { all_of(path, {.level = level}); });
        CHECK(error.code() == Errc::unsupported);
        CHECK(mentions(error, "stored mirrored or turned"));
      }
      CHECK(SlideSource({.files = path, .mpp = 2, .size = 64}).slides().front().level == 0);
    }
}
