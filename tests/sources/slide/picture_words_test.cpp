// SPDX-License-Identifier: Apache-2.0
// Pictures of slides: what stands below them, their files, and what can go wrong.
#include <penstock/sources/slide_picture.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include <penstock/transforms/decode_png.hpp>

#include "sources/slide/jpeg2000_files.hpp"
#include "sources/slide/picture_checks.hpp"
#include "sources/slide/picture_text.hpp"
#include "sources/slide/slide_files.hpp"
#include "sources/source_checks.hpp"
#include "sources/temp_folder.hpp"
#include "support/catch.hpp"
#include "support/text_in.hpp"

using namespace penstock;
using namespace penstock_test;

TEST_CASE("nothing of what stands below a slide is cut off, however small it is") {
  const TempFolder folder;
  const PictureText text;
  const std::string long_name(200, 'w');
  struct Case {
    std::int32_t width, height, side;
  };
  for (const Case& size : {Case{1, 1, 1024},
                           {1, 300, 1024},
                           {300, 1, 64},
                           {2200, 60, 400},
                           {2200, 60, 1024},
                           {60, 2200, 1024},
                           {2200, 100, 2000},
                           {2200, 100, 64}}) {
    SlideForm form = lossless(stained_until(size.width, size.height, (size.width + 1) / 2));
    form.description = "Aperio\n1x1 |AppMag = 40|MPP = 0.25";
    const std::string path = folder / (long_name + ".tif");
    write_slide(path, form);
    const SlideSource source(
        {.files = path,
         .mpp = 0.3,
         .size = 51,
         .stride = 49,
         .left = size.width > 1000 ? 40 : 0,
         .edges = SlideEdges::shrink,
         .tissue = {.by = SlideTissue::By::saturation, .least = 0.35, .mpp = 4, .closing = 0, .least_area = 0}});
    REQUIRE_FALSE(source.slides().front().failure.has_value());
    const SlidePicture picture = draw_slide(source, 0, {.side = size.side});
    CAPTURE(size.width, size.height, size.side, picture.width, picture.height);
    const std::int32_t longest = std::max(size.width, size.height);
    const std::int32_t k = (longest + size.side - 1) / size.side;
    const std::int32_t high = (size.height + k - 1) / k, wide = (size.width + k - 1) / k;
    const std::int32_t scale = std::max(1, (std::max(high, wide) + 250) / 500);
    REQUIRE(picture.width == std::max(wide, 360 * scale));
    REQUIRE(picture.rgb.size() == static_cast<std::size_t>(picture.width * picture.height) * 3);
    // Nothing stands in the margins.
    for (std::int32_t y = high + 1; y < picture.height; ++y)
      for (std::int32_t x = picture.width - 5 * scale; x < picture.width; ++x)
        REQUIRE(at(picture, x, y) == Rgb{255, 255, 255});
    for (std::int32_t y = picture.height - 5 * scale; y < picture.height; ++y)
      for (std::int32_t x = 0; x < picture.width; ++x) REQUIRE(at(picture, x, y) == Rgb{255, 255, 255});
    const std::string read = text.read(picture, high, scale), words = text.words(picture, high, scale);
    CHECK(std::ranges::count(read, 'w') >= 200);
    CHECK(words.find("um a pixel, 40x, one level") != std::string::npos);
    CHECK(words.find("Read: JPEG 2000 tiles of 64 x 48 pixels") != std::string::npos);
    CHECK(words.find(longest == 1 ? "Records: level 0, 1 x 1 pixels" : "Records: made smaller, from level 0 to") !=
          std::string::npos);
    CHECK(words.find("Places: 51 x 51 pixels (1") != std::string::npos);
    CHECK(words.find(size.width > 1000 ? "one every 49, from pixel 40, 0 of level 0 on; those"
                                       : "one every 49; those") != std::string::npos);
    CHECK(words.find("those that reach beyond the slide are cut off") != std::string::npos);
    CHECK(words.find("at least 35 % of each record") != std::string::npos);
  }
}

TEST_CASE("names in other alphabets stay one letter for one") {
  const TempFolder folder;
  const PictureText text;
  write_slide(folder / "5 \xC2\xB5m \xCE\xBC, \xE7\x8E\x8B.tif", {.width = 64, .height = 64});
  const SlidePicture picture = draw_slide(SlideSource({.files = folder / "*.tif", .size = 64}), 0);
  CHECK(text.read(picture, 64)
            .starts_with("5 um u, ?\n1 record of 1 place\nSlide: 64 x 64 pixels, how large one is is "
                         "not known, one\nlevel\nRead: JPEG tiles of 64 x 64 pixels\nRecords: level 0, "
                         "64 x 64 pixels\n"));
}

TEST_CASE("a picture says why OpenSlide reads a slide") {
  const TempFolder folder;
  const PictureText text;
  const WrittenSlide slide = write_slide(folder / "a.tif", openslide_form({.width = 300, .height = 200}));
  const SlideSource source({.files = slide.path, .size = 64});
  const SlidePicture picture = draw_slide(source, 0);
  CHECK(at(picture, 30, 30) == mean_of(slide.pixels, 30, 30, 1));
  CHECK(text.words(picture, 200)
            .find("Read: through OpenSlide " + source.slides().front().openslide + ", as " + why_openslide_form) !=
        std::string::npos);
}

TEST_CASE("a picture that is written is read back, and no half of it ever has its name") {
  const TempFolder folder;
  const WrittenSlide slide = write_slide(folder / "a.tif", micron_slide(200, 150));
  const SlidePicture picture = draw_slide(SlideSource({.files = slide.path, .size = 64}), 0);
  const std::string path = folder / "a.png";
  folder.write("a.png", "something else");
  write_png(picture, path);
  const std::string bytes = text_in(path);
  const auto decoding = png_decoder()->start();
  const penstock::ImageShape shape = decoding->open(std::as_bytes(std::span(bytes)));
  CHECK(shape.width == picture.width);
  CHECK(shape.height == picture.height);
  TestScratch scratch;
  const Image decoded = copied(decoding->decode({0, 0, shape.height, shape.width}, true, nullptr, scratch));
  CHECK(decoded.pixels == picture.rgb);
  CHECK_FALSE(std::filesystem::exists(path + ".new"));

  const Error nowhere = error_of([&] { write_png(picture, folder / "none/a.png"); });
  CHECK(nowhere.code() == Errc::not_found);
  CHECK(mentions(nowhere, "none/a.png"));
  std::filesystem::create_directories(folder / "b.png/full");
  const Error refused = error_of([&] { write_png(picture, folder / "b.png"); });
  CHECK(refused.code() == Errc::io);
  CHECK(mentions(refused, "b.png"));
  CHECK_FALSE(std::filesystem::exists(folder / "b.png.new"));
  for (const SlidePicture& bad : {SlidePicture{}, {2, 1, {1, 2, 3}}, {1, 1, {1, 2, 3, 4}}, {-1, -1, {1, 2, 3}}})
    CHECK(code_of([&] { write_png(bad, folder / "c.png"); }) == Errc::invalid_argument);
  CHECK_FALSE(std::filesystem::exists(folder / "c.png"));
}

TEST_CASE("a picture that can't be drawn is an error that says why") {
  const TempFolder folder;
  const WrittenSlide slide = write_slide(folder / "a.tif", micron_slide(200, 150));
  folder.write("b.tif", "no slide");
  const SlideSource source({.paths = {folder / "a.tif", folder / "b.tif"}, .size = 64});
  CHECK(code_of([&] { draw_slide(source, 2); }) == Errc::not_found);
  for (const std::int32_t side : {63, 8193, 0, -1})
    CHECK(code_of([&] { draw_slide(source, 0, {.side = side}); }) == Errc::invalid_argument);
  CHECK(draw_slide(source, 0, {.side = 64}).width == 360);
  CHECK(draw_slide(source, 0, {.side = 8192}).width == 360);
  // More than 4096 pixels would be one of the picture.
  SlideForm wide{.width = 262'145, .height = 1, .tile_width = 8192, .tile_height = 16};
  wide.draw = [](const penstock::ImageShape& shape) { return Image(shape); };
  write_slide(folder / "wide.tif", wide);
  const SlideSource of_wide({.files = folder / "wide.tif"});
  CHECK(code_of([&] { draw_slide(of_wide, 0, {.side = 64}); }) == Errc::limit_exceeded);
  CHECK(at(draw_slide(of_wide, 0, {.side = 65}), 30, 0) == striped({0, 0, 0}, 30, 0));
  const Error failed = error_of([&] { draw_slide(source, 1); });
  CHECK(std::string(failed.what()) == source.slides()[1].failure->what());
  write_slide(folder / "a.tif", micron_slide(220, 150));
  CHECK(code_of([&] { draw_slide(source, 0); }) == Errc::io);
  folder.write("a.tif", "no slide any more");
  CHECK(code_of([&] { draw_slide(source, 0); }) == Errc::io);
  std::filesystem::remove(folder / "a.tif");
  CHECK(code_of([&] { draw_slide(source, 0); }) == Errc::not_found);
}

TEST_CASE("a legend of long names is not cut off in a picture, in any alphabet") {
  const TempFolder folder;
  write_slide(folder / "a.tif", {.width = 300, .height = 200, .per_unit = 10'000});
  const std::string name = "a class whose name is so long that no line of a small picture has room for all of it";
  folder.write("a.json",
               R"([{"type":"Feature","geometry":{"type":"Polygon","coordinates":[[[0,0],[100,0],[100,90],[0,90]]]},)"
               R"("properties":{"classification":")" +
                   name + "\xc3\xa9" + R"("}}])");
  const SlidePicture drawn = draw_slide(SlideSource({.files = folder / "a.tif",
                                                     .size = 50,
                                                     .tissue = {.by = SlideTissue::By::saturation, .mpp = 4},
                                                     .regions = {.folder = folder.path().string(), .include = {"*"}}}),
                                        0, {.side = 400});
  // The margin at the right has nothing in it, below the slide.
  for (std::int32_t y = 205; y < drawn.height; ++y)
    for (std::int32_t x = drawn.width - 5; x < drawn.width; ++x) CHECK(at(drawn, x, y) == Rgb{255, 255, 255});
}
