// SPDX-License-Identifier: Apache-2.0
// Tiles that a file says nothing of (offset 0, 0 bytes), as scanners leave out what is glass alone.
#include <penstock/sources/slide.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

#include <penstock/penstock.hpp>
#include <penstock/sources/slide_index.hpp>
#include <penstock/transforms/encode_jpeg.hpp>

#include "sources/slide/jpeg2000_files.hpp"
#include "sources/slide/slide_files.hpp"
#include "sources/source_checks.hpp"
#include "sources/temp_folder.hpp"
#include "support/catch.hpp"
#include "support/thrown.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace penstock;
using namespace penstock_test;

namespace {

// Five tiles across, four down; those of an odd number are left out.
constexpr std::int32_t side = 64, across = 5, down = 4;

void leave_out(const WrittenSlide& slide, std::uint64_t tile) {
  slide.set_offset(tile, 0);
  slide.set_size(tile, 0);
}

WrittenSlide half_left_out(const std::string& path, SlideForm form) {
  form.width = side * across;
  form.height = side * down;
  const WrittenSlide slide = write_slide(path, form);
  for (std::uint64_t tile = 1; tile < across * down; tile += 2) leave_out(slide, tile);
  return slide;
}

// Stained all over, so that whatever is read is tissue.
SlideForm stained_all_over(SlideForm form = {}) {
  form.draw = [](const ImageShape& shape) {
    Image image(shape);
    for (std::size_t i = 0; i < image.pixels.size(); i += 3) {
      image.pixels[i] = 170;
      image.pixels[i + 1] = 80;
      image.pixels[i + 2] = 150;
    }
    return image;
  };
  form.per_unit = 10'000;  // a micrometre a pixel
  return form;
}

bool all_white(const TensorView& image) {
  const auto* const pixels = reinterpret_cast<const std::uint8_t*>(image.data);
  return std::all_of(pixels, pixels + image.bytes(), [](std::uint8_t value) { return value == 255; });
}

}  // namespace

TEST_CASE("tiles that are left out are white, and no error") {
  const TempFolder folder;
  const std::vector<SlideForm> forms{
      {}, {.rgb = true}, {.big_tiff = true}, {.big_endian = true, .short_sizes = true}, lossless({})};
  for (const SlideForm& form : forms) {
    const WrittenSlide slide = half_left_out(folder / "a.tif", form);
    for (const bool verify : {false, true})
      for (const std::int32_t size : {side, 40}) {
        CAPTURE(&form - forms.data(), verify, size);
        const SlideSource source({.files = slide.path, .size = size, .edges = SlideEdges::pad});
        std::uint64_t records = 0;
        Loader loader(from(source) | check({.verify = verify}) | batch(1), {.threads = 2, .epochs = 1});
        while (const auto batch = loader.next()) {
          const auto image = batch->view<std::uint8_t, 4>("image");
          const std::int64_t left = batch->view<std::int64_t, 1>("x")(0);
          const std::int64_t top = batch->view<std::int64_t, 1>("y")(0);
          std::uint64_t coloured = 0;
          for (std::int64_t y = 0; y < size; ++y)
            for (std::int64_t x = 0; x < size; ++x) {
              const std::int64_t tile = (top + y) / side * across + (left + x) / side;
              const bool beyond = left + x >= side * across || top + y >= side * down;
              if (image(0, y, x, 0) == 255 && image(0, y, x, 1) == 255 && image(0, y, x, 2) == 255) continue;
              if (tile % 2 != 0 || beyond) ++coloured;
            }
          CHECK(coloured == 0);
          ++records;
        }
        CHECK(records == source.size());
      }
  }
}

TEST_CASE("tiles that are left out show no tissue") {
  const TempFolder folder;
  const WrittenSlide slide = half_left_out(folder / "a.tif", stained_all_over());
  for (const SlideTissue::By by : {SlideTissue::By::saturation, SlideTissue::By::grey}) {
    const SlideSource source(
        {.files = slide.path, .size = side, .tissue = {.by = by, .mpp = 8, .closing = 0, .least_area = 0}});
    CHECK(source.size() == across * down / 2);
    for (std::uint64_t i = 0; i < source.size(); ++i) CHECK_FALSE(all_white(read_sample(source, i)["image"]));
  }
}

TEST_CASE("a tile that is left out is encoded, where others are stored as they are") {
  const TempFolder folder;
  const WrittenSlide slide = half_left_out(folder / "a.tif", {});
  const SlideSource source({.files = slide.path, .size = side});
  const Pipeline tiles = from(source) | encode_jpeg("image", {.keep_stored = true});
  Loader loader(tiles | ragged("image") | batch(1), {.threads = 1, .epochs = 1});
  std::uint64_t rows = 0;
  while (const auto batch = loader.next()) {
    CHECK(batch->ragged("image")[0].bytes() > 100);
    ++rows;
  }
  CHECK(rows == across * down);
}

TEST_CASE("a tile of a coarser level that is left out is glass only where the finer one has no pixels either") {
  const TempFolder folder;
  // Level 0 has 10 x 8 tiles, and level 1 has 5 x 4, of which two are left out: one with all four above it, one with
  // three.
  SlideForm form = stained_all_over();
  form.width = 2 * side * across;
  form.height = 2 * side * down;
  form.lower = {{side * across, side * down}};
  for (const SlideLevels layout : {SlideLevels::tiff, SlideLevels::aperio, SlideLevels::ome}) {
    form.layout = layout;
    form.description = layout == SlideLevels::aperio ? "Aperio Image" : "";
    const WrittenSlide slide = write_slide(folder / "a.tif", form);
    for (const std::uint64_t tile : {2u, 3u, 12u, 13u, 4u, 5u, 14u}) leave_out(slide, tile);
    for (const std::uint64_t tile : {1u, 2u}) slide.leave_out_below(0, tile);
    const std::string index = folder / "slides.index";
    Slides options{.files = slide.path, .level = 1, .size = side};
    write_slide_index(options, index);
    for (const bool indexed : {false, true}) {
      CAPTURE(static_cast<int>(layout), indexed);
      if (indexed) options.index = index;
      const SlideSource source(options);
      REQUIRE(source.size() == across * down);
      CHECK(all_white(read_sample(source, 1)["image"]));
      const Error error = error_of([&] { (void)read_sample(source, 2); });
      CHECK(error.code() == Errc::corrupt);
      CHECK(mentions(
          error, "the tile at x 128, y 0 of level 1: the file leaves it out, though a finer level has pixels of it"));
      CHECK_FALSE(all_white(read_sample(source, 3)["image"]));
    }
  }
}

TEST_CASE("a tile that three levels leave out, but not the finest, is lost") {
  const TempFolder folder;
  SlideForm form = stained_all_over();
  form.width = form.height = 8 * side;
  form.lower = {{4 * side, 4 * side}, {2 * side, 2 * side}};
  const WrittenSlide slide = write_slide(folder / "a.tif", form);
  for (const std::uint64_t tile : {0u, 1u, 4u, 5u}) slide.leave_out_below(0, tile);
  slide.leave_out_below(1, 0);
  const SlideSource source({.files = slide.path, .level = 2, .size = side});
  CHECK(mentions(error_of([&] { (void)read_sample(source, 0); }), "though a finer level has pixels of it"));
  CHECK_NOTHROW(read_sample(source, 1));
}

TEST_CASE("glass that is left out at each level is glass, whatever sides are rounded to") {
  const TempFolder folder;
  for (const std::int32_t times : {2, 4, 8, 16})
    for (const std::int32_t more : {0, 1, times / 2, times - 1})
      for (const bool up : {false, true}) {
        SlideForm form = stained_all_over();
        form.width = 5 * side * times + more;
        form.height = side * times + more;
        const auto coarse = [&](std::int32_t pixels) { return (pixels + (up ? times - 1 : 0)) / times; };
        form.lower = {{coarse(form.width), coarse(form.height)}};
        CAPTURE(times, more, up);
        const WrittenSlide slide = write_slide(folder / "a.tif", form);
        // The fourth tile of the coarse level, and all that is under it.
        const std::int32_t columns = (form.width + side - 1) / side, rows = (form.height + side - 1) / side;
        for (std::int32_t row = 0; row < rows; ++row)
          for (std::int32_t column = 3 * times; column < 4 * times; ++column)
            leave_out(slide, static_cast<std::uint64_t>(row * columns + column));
        slide.leave_out_below(0, 3);
        const SlideSource source({.files = slide.path, .level = 1, .size = side});
        CHECK(all_white(read_sample(source, 3)["image"]));
        CHECK_FALSE(all_white(read_sample(source, 2)["image"]));
      }
}

TEST_CASE("a tile of no bytes that lies somewhere is damaged, and so is one of bytes at the beginning of the file") {
  const TempFolder folder;
  const WrittenSlide slide = write_slide(folder / "a.tif", {});
  slide.set_size(1, 0);
  slide.set_offset(2, 0);
  const SlideSource source({.files = slide.path, .size = 64});
  CHECK(error_of([&] { read_sample(source, 1); }).cause().find("it is empty") != std::string::npos);
  CHECK(error_of([&] { read_sample(source, 2); }).code() == Errc::corrupt);
}

}  // namespace PENSTOCK_TEST_FILE
