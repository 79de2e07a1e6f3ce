// SPDX-License-Identifier: Apache-2.0
// Pictures of slides: where everything stands, and which colour it has.
#include <penstock/sources/slide_picture.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "sources/slide/picture_checks.hpp"
#include "sources/slide/picture_text.hpp"
#include "sources/slide/region_drawings.hpp"
#include "sources/slide/slide_files.hpp"
#include "sources/temp_folder.hpp"
#include "support/catch.hpp"

using namespace penstock;
using namespace penstock_test;

namespace {

// A side of a grid's places in the picture: [from, to) of each.
std::vector<std::array<std::int64_t, 2>> ranges(const Slides& slides, std::int64_t begin, std::int64_t image,
                                                std::int64_t level, std::int64_t k) {
  std::vector<std::array<std::int64_t, 2>> all;
  const std::int64_t stride = slides.stride != 0 ? slides.stride : slides.size - slides.overlap;
  const std::int64_t pixels = (level + k - 1) / k;
  const auto in_picture = [&](std::int64_t place) {
    return place >= image ? pixels : std::min((2 * place * level + image * k) / (2 * image * k), pixels);
  };
  for (std::int64_t place = begin; place < image; place += stride) {
    if (slides.edges == SlideEdges::drop && place + slides.size > image) break;
    const std::int64_t from = std::min(in_picture(place), pixels - 1);
    all.push_back({from, std::max(in_picture(place + slides.size), from + 1)});
    // The rest is covered already.
    if (place + slides.size >= image) break;
  }
  return all;
}

bool covers(const std::vector<std::array<std::int64_t, 2>>& all, std::int32_t pixel) {
  return std::ranges::any_of(all, [&](const auto& range) { return range[0] <= pixel && pixel < range[1]; });
}

// Whether lines one pixel thick stand there: each place's first pixel, and the one after its last.
bool has_line(const std::vector<std::array<std::int64_t, 2>>& all, std::int32_t pixel, std::int64_t pixels) {
  return std::ranges::any_of(
      all, [&](const auto& range) { return pixel == range[0] || pixel == std::min(range[1], pixels - 1); });
}
// A line across reaches from the first pixel to the one after the last.
bool has_line_along(const std::vector<std::array<std::int64_t, 2>>& all, std::int32_t pixel, std::int64_t pixels) {
  return std::ranges::any_of(
      all, [&](const auto& range) { return range[0] <= pixel && pixel <= std::min(range[1], pixels - 1); });
}

// Every pixel of a picture where all places are records.
void compare(const SlidePicture& picture, const Image& level, std::int32_t k, const Slides& slides, std::int64_t width,
             std::int64_t height, bool tinted) {
  const std::int32_t wide = (level.shape.width + k - 1) / k, high = (level.shape.height + k - 1) / k;
  // A slide of these tests has one micrometre a pixel.
  const auto left = static_cast<std::int64_t>(static_cast<double>(slides.left) / std::max(slides.mpp, 1.0) + 0.5);
  const auto top = static_cast<std::int64_t>(static_cast<double>(slides.top) / std::max(slides.mpp, 1.0) + 0.5);
  const auto columns = ranges(slides, left, width, level.shape.width, k);
  const auto rows = ranges(slides, top, height, level.shape.height, k);
  const std::int64_t stride = slides.stride != 0 ? slides.stride : slides.size - slides.overlap;
  const bool faint = std::min<std::int64_t>(slides.size, stride) * level.shape.width < 16 * width * k;
  for (std::int32_t y = 0; y < high; ++y)
    for (std::int32_t x = 0; x < wide; ++x) {
      const Rgb mean = mean_of(level, x, y, k);
      Rgb expected = covers(columns, x) && covers(rows, y) ? mean : striped(mean, x, y);
      const auto covered = [&](std::int32_t u, std::int32_t v) {
        return u >= 0 && v >= 0 && u < wide && v < high && covers(columns, u) && covers(rows, v);
      };
      if (tinted && covered(x, y))
        expected = covered(x - 1, y) && covered(x + 1, y) && covered(x, y - 1) && covered(x, y + 1)
                       ? blended(mean, record_line, 20)
                       : record_line;
      if (!tinted && ((has_line(columns, x, wide) && has_line_along(rows, y, high)) ||
                      (has_line(rows, y, high) && has_line_along(columns, x, wide))))
        expected = blended(expected, record_line, faint ? 50 : 100);
      if (at(picture, x, y) == expected) continue;  // words for each pixel would take most of the time
      CAPTURE(x, y);
      REQUIRE(at(picture, x, y) == expected);
    }
}

}  // namespace

TEST_CASE("a picture shows means of a level, a line around records, and stripes where no place is") {
  const TempFolder folder;
  SlideForm form = micron_slide(500, 370);
  const WrittenSlide one = write_slide(folder / "one.tif", form);
  form.lower = {{250, 185}, {62, 46}};
  const WrittenSlide three = write_slide(folder / "three.tif", form);
  for (const SlideEdges edges : {SlideEdges::drop, SlideEdges::pad, SlideEdges::shrink}) {
    const auto draw = [&](const WrittenSlide& slide, Slides slides, std::int32_t side) {
      slides.files = slide.path;
      slides.edges = edges;
      return draw_slide(SlideSource(slides), 0, {.side = side});
    };
    const auto check = [&](const WrittenSlide& slide, const Image& level, std::int32_t k, Slides slides,
                           std::int32_t side, bool tinted = false) {
      CAPTURE(slide.path, k, slides.size, slides.stride, slides.left, side, static_cast<int>(edges));
      slides.edges = edges;
      const double mpp = std::max(slides.mpp, 1.0);
      const auto pixels = [&](std::int32_t of_level_0) { return static_cast<std::int64_t>(of_level_0 / mpp + 0.5); };
      compare(draw(slide, slides, side), level, k, slides, pixels(500), pixels(370), tinted);
    };
    // As it is, smaller, and by the level that is large enough.
    check(one, one.pixels, 1, {.size = 64}, 1024 / 2);
    check(one, one.pixels, 1, {.size = 64}, 500);
    check(one, one.pixels, 2, {.size = 64}, 499);
    check(one, one.pixels, 3, {.size = 40, .stride = 50}, 200);
    check(one, one.pixels, 8, {.size = 90, .overlap = 30, .left = 23, .top = 11}, 64);
    check(three, three.lower[0], 1, {.size = 64}, 250);
    check(three, three.lower[0], 2, {.size = 64}, 130);
    check(three, three.pixels, 2, {.size = 64}, 251);
    check(three, three.lower[0], 4, {.size = 100}, 64);
    // The image that places lie on is 227 or 200 pixels wide.
    check(three, three.lower[0], 1, {.mpp = 2.2, .size = 32}, 250);
    check(three, three.pixels, 1, {.mpp = 2.5, .size = 32, .stride = 48}, 500);
    // Places of less than five pixels have no outlines.
    check(one, one.pixels, 3, {.size = 15}, 200);
    check(one, one.pixels, 3, {.size = 14}, 200, true);
    check(one, one.pixels, 3, {.size = 60, .stride = 14}, 200, true);
    check(one, one.pixels, 3, {.size = 8, .stride = 60}, 200, true);
  }
  CHECK(draw_slide(SlideSource({.files = one.path, .size = 64, .order = SlideOrder::squares}), 0).rgb ==
        draw_slide(SlideSource({.files = one.path, .size = 64}), 0).rgb);
}

TEST_CASE("a picture tells places that show too little tissue from those in no place, and draws the mask's edge") {
  const TempFolder folder;
  // 8 x 6 places of 40 pixels, and a rest to the right; tissue in four columns of them, and a quarter of the fifth.
  const WrittenSlide slide = write_slide(folder / "a.tif", stained_until(330, 240, 168));
  const Rgb stain{200, 90, 200}, glass{240, 240, 240};
  const PictureText text;
  for (const SlideTissue::By by : {SlideTissue::By::saturation, SlideTissue::By::grey})
    for (const SlideOrder order : {SlideOrder::rows, SlideOrder::squares}) {
      const auto draw = [&](double least) {
        return draw_slide(SlideSource({.files = slide.path,
                                       .size = 40,
                                       .order = order,
                                       .tissue = {.by = by, .least = least, .mpp = 4, .closing = 0, .least_area = 0}}),
                          0);
      };
      const SlidePicture all = draw(0.1), half = draw(0.5);
      // A record, between its lines.
      CHECK(at(all, 20, 20) == stain);
      CHECK(at(half, 20, 20) == stain);
      CHECK(at(half, 40, 20) == record_line);
      CHECK(at(half, 20, 40) == record_line);
      // The fifth column, of which a fifth is tissue.
      CHECK(at(all, 164, 20) == stain);
      CHECK(at(half, 164, 20) == dimmed(stain));
      CHECK(at(all, 190, 20) == glass);
      CHECK(at(half, 190, 20) == dimmed(glass));
      CHECK(at(all, 200, 20) == record_line);
      CHECK(at(all, 300, 220) == dimmed(glass));
      // Right of the grid.
      CHECK(at(all, 325, 100) == striped(glass, 325, 100));
      CHECK(at(all, 325, 101) == striped(glass, 325, 101));
      CHECK(at(all, 325, 101) != at(all, 325, 105));
      // The edge is the mask's last pixel, and where the slide ends.
      for (const SlidePicture& picture : {all, half}) {
        CHECK(at(picture, 167, 100) == tissue_line);
        CHECK(at(picture, 166, 100) != tissue_line);
        CHECK(at(picture, 168, 100) != tissue_line);
        CHECK(at(picture, 0, 100) == tissue_line);
        CHECK(at(picture, 100, 0) == tissue_line);
        CHECK(at(picture, 100, 239) == tissue_line);
        CHECK(at(picture, 200, 239) != tissue_line);
      }
      const std::string words = text.words(half, 240);
      CHECK(words.find("24 records of 48 places; 24 left out: too little tissue") != std::string::npos);
      CHECK(words.find("on a mask of 4 um a pixel; at least 50 % of each record") != std::string::npos);
      CHECK(words.find(by == SlideTissue::By::grey ? "Tissue: grey up to" : "Tissue: saturation above") !=
            std::string::npos);
    }
}

TEST_CASE("a picture of a slide without tissue, or without places, has no record") {
  const TempFolder folder;
  const PictureText text;
  write_slide(folder / "a.tif", stained_until(200, 100, 0));
  const SlideTissue tissue{.by = SlideTissue::By::saturation, .mpp = 4};
  const SlidePicture none = draw_slide(SlideSource({.files = folder / "a.tif", .size = 20, .tissue = tissue}), 0);
  for (std::int32_t y = 0; y < 100; ++y)
    for (std::int32_t x = 0; x < 200; ++x) REQUIRE(at(none, x, y) == dimmed({240, 240, 240}));
  CHECK(text.words(none, 100).find("0 records of 50 places; 50 left out") != std::string::npos);
  const SlidePicture larger = draw_slide(SlideSource({.files = folder / "a.tif", .size = 256, .tissue = tissue}), 0);
  for (std::int32_t y = 0; y < 100; ++y)
    for (std::int32_t x = 0; x < 200; ++x) REQUIRE(at(larger, x, y) == striped({240, 240, 240}, x, y));
  CHECK(text.words(larger, 100).find("No places: the slide is smaller than one") != std::string::npos);
}

TEST_CASE("what can't be read has a colour of its own in a picture, wherever it lies") {
  const TempFolder folder;
  const WrittenSlide slide = write_slide(folder / "a.tif", stained_until(330, 240, 0));
  slide.set_size(7, 0);  // the second of the second row: x 64 to 128, y 48 to 96
  for (const std::int32_t size : {40, 3, 1000}) {
    const SlidePicture picture = draw_slide(SlideSource({.files = slide.path, .size = size}), 0);
    std::int32_t count = 0;
    for (std::int32_t y = 0; y < 240; ++y)
      for (std::int32_t x = 0; x < 330; ++x) {
        if (at(picture, x, y) != unread) continue;
        ++count;
        CHECK((x >= 64 && x < 128 && y >= 48 && y < 96));
      }
    // Two lines across, two down.
    CHECK(count == (size == 40 ? 64 * 48 - 64 - 2 * 48 + 2 : 64 * 48));
    // The legend has a line for it.
    CHECK(std::ranges::any_of(std::vector<std::int32_t>{13, 40, 80, 120, 160, 200, 240}, [&](std::int32_t x) {
      for (std::int32_t y = 242; y < picture.height; ++y)
        for (std::int32_t near = x; near < std::min(x + 40, picture.width); ++near)
          if (at(picture, near, y) == unread) return true;
      return false;
    }));
  }
}

TEST_CASE("regions are drawn in colours of their own, and places outside of those that are wanted are dimmed") {
  const TempFolder folder;
  const WrittenSlide slide = write_slide(folder / "a.tif", micron_slide(320, 192));
  folder.write("a.json", as_geojson({{"x", {{{{0, 0}, {160, 0}, {160, 192}, {0, 192}}}}},
                                     {"y", {{{{64, 96}, {256, 96}, {256, 160}, {64, 160}}}}}}));
  const auto draw = [&](const SlideRegions& rules) {
    SlideRegions regions = rules;
    regions.folder = folder.path().string();
    regions.mpp = 1;
    return draw_slide(SlideSource({.files = folder / "a.tif", .size = 32, .regions = regions}), 0);
  };
  const auto mean = [&](std::int32_t x, std::int32_t y) { return mean_of(slide.pixels, x, y, 1); };
  constexpr Rgb first{215, 25, 28}, second{200, 0, 200};
  const PictureText text;

  const SlidePicture wanted = draw({.include = {"x"}});
  CHECK(at(wanted, 16, 16) == mean(16, 16));
  CHECK(at(wanted, 159, 16) == first);
  CHECK(at(wanted, 176, 16) == dimmed(mean(176, 16)));
  CHECK(at(wanted, 200, 128) == dimmed(mean(200, 128)));  // nobody asked for y
  const std::string said = text.read(wanted, 192);
  CHECK(said.find("30 records of 60 places; 30 left out: outside of") != std::string::npos);
  CHECK(said.find("Regions: a.json; records show x; at least 50 % of each") != std::string::npos);
  CHECK(said.find("Tissue") == std::string::npos);

  const SlidePicture without = draw({.include = {"x"}, .exclude = {"y"}});
  CHECK(at(without, 80, 80) == mean(80, 80));
  CHECK(at(without, 80, 144) == dimmed(mean(80, 144)));
  CHECK(at(without, 64, 144) == second);
  CHECK(at(without, 255, 144) == second);
  CHECK(text.read(without, 192).find("records show x, but not y") != std::string::npos);
  CHECK(text.read(draw({.field = "kind"}), 192).find("Regions: a.json; they say what records show") !=
        std::string::npos);

  // With a mask of tissue it is told which of the two a place lacks.
  const WrittenSlide stained = write_slide(folder / "b.tif", stained_until(320, 192, 192));
  folder.write("b.json", as_geojson({{"x", {{{{0, 0}, {320, 0}, {320, 96}, {0, 96}}}}}}));
  const SlidePicture both =
      draw_slide(SlideSource({.files = folder / "b.tif",
                              .size = 32,
                              .tissue = {.by = SlideTissue::By::saturation, .mpp = 4, .closing = 0, .least_area = 0},
                              .regions = {.folder = folder.path().string(), .include = {"*"}}}),
                 0);
  const std::string told = text.read(both, 192);
  CHECK(told.find("18 records of 60 places; 24 left out: too little") != std::string::npos);
  CHECK(told.find("18 left out:") != std::string::npos);
}

TEST_CASE("slides that are thinner than a line are drawn") {
  const TempFolder folder;
  for (const auto& [width, height] : {std::pair(3000, 1), {1, 3000}, {2100, 3}}) {
    write_slide(folder / "a.tif", {.width = width, .height = height});
    for (const SlideEdges edges : {SlideEdges::pad, SlideEdges::shrink})
      for (const std::int32_t side : {64, 1024, 8192}) {
        const SlidePicture picture =
            draw_slide(SlideSource({.files = folder / "a.tif", .size = 256, .edges = edges}), 0, {.side = side});
        CHECK(picture.rgb.size() ==
              static_cast<std::size_t>(picture.width) * static_cast<std::size_t>(picture.height) * 3);
      }
  }
}

TEST_CASE("places of a list are drawn where they are") {
  const TempFolder folder;
  const WrittenSlide slide = write_slide(folder / "a.tif", micron_slide(320, 192));
  const SlidePicture picture = draw_slide(
      SlideSource({.files = folder / "a.tif", .size = 32, .coords = {{.slide = "a", .at = {{10, 20}, {100, 57}}}}}), 0);
  CHECK(at(picture, 10, 30) == record_line);
  CHECK(at(picture, 120, 57) == record_line);
  CHECK(at(picture, 132, 70) == record_line);
  CHECK(at(picture, 20, 30) == mean_of(slide.pixels, 20, 30, 1));
  CHECK(at(picture, 60, 30) == striped(mean_of(slide.pixels, 60, 30, 1), 60, 30));
  const std::string said = PictureText().read(picture, 192);
  CHECK(said.find("2 records of 2 places") != std::string::npos);
  CHECK(said.find("Places: 32 x 32 pixels (32 um), as they are listed") != std::string::npos);
}

TEST_CASE("a picture of a view says that the view leaves places out") {
  const TempFolder folder;
  write_slide(folder / "a.tif", micron_slide(320, 192));
  folder.write("a.json", as_geojson({{"x", {{{{0, 0}, {160, 0}, {160, 192}, {0, 192}}}}}}));
  const SlideSource all({.files = folder / "a.tif",
                         .size = 32,
                         .regions = {.folder = folder.path().string(), .field = "shows", .mpp = 1}});
  const PictureText text;
  CHECK(text.read(draw_slide(all, 0), 192).find("60 records of 60 places") != std::string::npos);
  const std::string said = text.read(draw_slide(all.only("shows", {"x"}), 0), 192);
  CHECK(said.find("30 records of 60 places; 30 left out: not in this") != std::string::npos);
  CHECK(said.find("outside of the regions") == std::string::npos);
}
