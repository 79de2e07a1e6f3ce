// SPDX-License-Identifier: Apache-2.0
// Records at places of a list.
#include <penstock/sources/slide.hpp>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <penstock/penstock.hpp>

#include "sources/slide/region_drawings.hpp"
#include "sources/slide/slide_files.hpp"
#include "sources/slide/slide_images.hpp"
#include "sources/source_checks.hpp"
#include "sources/temp_folder.hpp"
#include "support/catch.hpp"
#include "support/thrown.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace penstock;
using namespace penstock_test;

namespace {

using At = std::vector<std::array<std::int32_t, 2>>;

SlideForm plain_slide() { return {.width = 400, .height = 300, .lower = {{200, 150}}, .per_unit = 10'000}; }

std::vector<std::pair<std::int64_t, std::int64_t>> places_of(const SlideSource& source) {
  std::vector<std::pair<std::int64_t, std::int64_t>> places;
  for (std::uint64_t i = 0; i < source.size(); ++i) places.emplace_back(source.place(i).x, source.place(i).y);
  return places;
}

bool plan_says(const Slides& slides, const std::string& text) {
  return from(slides).plan().find(text) != std::string::npos;
}

}  // namespace

TEST_CASE("records are the listed places, in the order of a grid's") {
  const TempFolder folder;
  const WrittenSlide slide = write_slide(folder / "a.tif", plain_slide());
  const At at{{301, 7}, {0, 0}, {17, 120}, {64, 64}, {5, 7}, {64, 64}, {344, 244}, {3, 120}};
  Slides slides{.files = folder / "a.tif", .size = 56, .coords = {{.slide = "a", .at = at}}};
  const SlideSource source(slides);
  using Places = std::vector<std::pair<std::int64_t, std::int64_t>>;
  CHECK(places_of(source) == Places{{0, 0}, {5, 7}, {301, 7}, {64, 64}, {3, 120}, {17, 120}, {344, 244}});
  CHECK(source.key(2) == "a/000007_000301");
  CHECK(source.block_ends() == std::vector<std::uint64_t>{3, 4, 6, 7});
  CHECK(source.slides().front().places == 7);
  CHECK(plan_says(slides, "1 place listed again, and left out"));
  for (std::uint64_t i = 0; i < source.size(); ++i) {
    const OwnedSample sample = read_sample(source, i);
    const std::int64_t x = number_of(sample, "x"), y = number_of(sample, "y");
    CHECK(std::pair(x, y) == places_of(source)[i]);
    CHECK(image_of(sample["image"]) == box_of(slide.pixels, x, y, 56, 56));
  }
  CHECK(source.labels("x") == std::vector<std::int64_t>{0, 5, 301, 64, 3, 17, 344});

  slides.order = SlideOrder::squares;
  slides.size = 20;
  const SlideSource squares(slides);
  CHECK(places_of(squares) == Places{{0, 0}, {5, 7}, {64, 64}, {3, 120}, {17, 120}, {301, 7}, {344, 244}});
  CHECK(squares.block_ends() == std::vector<std::uint64_t>{5, 6, 7});
  CHECK(squares.identity() != source.identity());
}

TEST_CASE("places that reach beyond the slide are dropped, padded or cut off") {
  const TempFolder folder;
  const WrittenSlide slide = write_slide(folder / "a.tif", plain_slide());
  Slides slides{.files = folder / "a.tif",
                .size = 50,
                .coords = {{.slide = "a", .at = {{350, 250}, {351, 250}, {399, 299}, {400, 0}, {0, 300}, {-1, 0}}}}};
  CHECK(SlideSource(slides).size() == 1);
  CHECK(plan_says(slides, "5 listed places reach beyond a slide, and are left out"));
  slides.edges = SlideEdges::pad;
  CHECK(SlideSource(slides).size() == 3);
  CHECK(plan_says(slides, "3 listed places lie outside of a slide, and are left out"));
  for_each_record(slides, [&](const Image& image, std::int64_t x, std::int64_t y) {
    CHECK(image == box_of(slide.pixels, x, y, 50, 50));
  });
  slides.edges = SlideEdges::shrink;
  for_each_record(slides, [&](const Image& image, std::int64_t x, std::int64_t y) {
    CHECK(image == box_of(slide.pixels, x, y, static_cast<std::int32_t>(std::min<std::int64_t>(50, 400 - x)),
                          static_cast<std::int32_t>(std::min<std::int64_t>(50, 300 - y))));
  });
}

TEST_CASE("listed places keep their coordinates, whatever pixels records are made of") {
  const TempFolder folder;
  const WrittenSlide slide = write_slide(folder / "a.tif", plain_slide());
  const At at{{0, 0}, {101, 33}, {250, 120}};
  for (const Slides& pixels : {Slides{.level = 1}, Slides{.mpp = 2}, Slides{.mpp = 3}}) {
    Slides slides = pixels;
    slides.files = folder / "a.tif";
    slides.size = 24;
    slides.coords = {{.slide = "a", .at = at}};
    const SlideSource source(slides);
    REQUIRE(source.size() == 3);
    for (std::uint64_t i = 0; i < 3; ++i) {
      const SlidePlace place = source.place(i);
      CHECK(place.x == at[i][0]);
      CHECK(place.y == at[i][1]);
      const OwnedSample sample = read_sample(source, i);
      CHECK(number_of(sample, "x") == at[i][0]);
      if (pixels.mpp != 3)
        CHECK(image_of(sample["image"]) == box_of(slide.lower.front(), place.image_x, place.image_y, 24, 24));
    }
  }
}

TEST_CASE("records that share no tile are decoded into their rows, listed or not") {
  const TempFolder folder;
  write_slide(folder / "a.tif", plain_slide());
  const auto whole = [&](std::int32_t size, const At& at) {
    return SlideSource({.files = folder / "a.tif", .size = size, .coords = {{.slide = "a", .at = at}}})
        .slides()
        .front()
        .whole_tiles;
  };
  CHECK(whole(64, {{0, 0}, {64, 0}, {128, 64}}));
  CHECK(whole(30, {{10, 10}, {70, 0}}));
  CHECK(whole(64, {{10, 0}, {128, 0}}));
  CHECK_FALSE(whole(64, {{10, 0}, {64, 0}}));
  CHECK_FALSE(whole(30, {{0, 0}, {31, 31}}));
  CHECK_FALSE(whole(64, {{0, 40}, {0, 128}, {64, 64}, {10, 170}}));
}

TEST_CASE("lists find their slides, and what is left over is told") {
  const TempFolder folder;
  std::filesystem::create_directories(folder.path() / "p");
  std::filesystem::create_directories(folder.path() / "q");
  for (const char* name : {"p/a.tif", "q/a.tif", "q/b.tif"}) write_slide(folder / name, plain_slide());
  const std::vector<std::string> paths{folder / "p/a.tif", folder / "q/a.tif", folder / "q/b.tif"};
  Slides slides{
      .paths = paths,
      .size = 50,
      .coords = {{.slide = "b", .at = {{0, 0}}}, {.slide = "p/a", .at = {{50, 0}, {0, 0}}}, {.slide = "z", .at = {}}}};
  const SlideSource source(slides);
  CHECK(source.slides()[0].records == 2);
  CHECK(source.slides()[1].records == 0);
  CHECK(source.slides()[2].records == 1);
  CHECK(plan_says(slides, "1 slide without a list of places: no record"));
  CHECK(plan_says(slides, "1 list of places passed over: no slide has that name"));
  CHECK_FALSE(plan_says(slides, "smaller than"));

  const auto refusal = [&](const std::vector<SlideCoords>& coords) {
    Slides bad = slides;
    bad.coords = coords;
    const Error error = error_of([&] { (void)SlideSource(bad); });
    CHECK(error.code() == Errc::invalid_argument);
    return error;
  };
  CHECK(mentions(refusal({{.slide = "a", .at = {}, .file = "a.h5"}}), "several slides are called a"));
  CHECK(mentions(refusal({{.slide = "b", .at = {}, .file = "1.h5"}, {.slide = "q/b", .at = {}, .file = "2.h5"}}),
                 "has two lists of places; the other one is in 1.h5"));
  CHECK(mentions(refusal({{.slide = "y", .at = {}}, {.slide = "z", .at = {}}}), "none of the 2 lists"));
  slides.left = 5;
  CHECK(mentions(error_of([&] { (void)SlideSource(slides); }), "there is no grid that begins at"));
}

TEST_CASE("lists of places that show another part of a slide are refused") {
  const TempFolder folder;
  write_slide(folder / "a.tif", plain_slide());
  const auto failure = [&](std::int32_t size, double mpp, double list_size, std::int32_t level, bool any = false) {
    return SlideSource({.files = folder / "a.tif",
                        .mpp = mpp,
                        .size = size,
                        .coords = {{.slide = "a", .at = {{0, 0}}, .size = list_size, .level = level, .file = "a.h5"}},
                        .coords_of_any_size = any})
        .slides()
        .front()
        .failure;
  };
  CHECK_FALSE(failure(64, 0, 64, 0));
  CHECK_FALSE(failure(64, 0, 32, 1));
  CHECK_FALSE(failure(32, 2, 64, 0));
  CHECK_FALSE(failure(64, 0, 65.9, 0));
  CHECK_FALSE(failure(64, 0, 0, 0));
  CHECK_FALSE(failure(64, 0, 128, 0, true));
  REQUIRE(failure(64, 0, 67, 0));
  const Error other = *failure(64, 0, 64, 1);
  CHECK(other.code() == Errc::unsupported);
  CHECK(other.file() == "a.h5");
  CHECK(mentions(other, "its places show 128 pixels of level 0 on each side, and records 64"));
  CHECK(mentions(*failure(64, 0, 64, 2), "its places are of level 2, and it has 2 levels"));
}

TEST_CASE("lists go together with tissue and regions") {
  const TempFolder folder;
  write_slide(folder / "a.tif", plain_slide());
  folder.write("a.json", as_geojson({{"x", {{{{0, 0}, {200, 0}, {200, 300}, {0, 300}}}}},
                                     {"y", {{{{0, 0}, {400, 0}, {400, 100}, {0, 100}}}}}}));
  // Each place by itself, and all in one list, whatever the order.
  Numbers numbers(5);
  At at;
  for (int i = 0; i < 150; ++i) at.push_back({numbers.below(360), numbers.below(260)});
  for (const SlideOrder order : {SlideOrder::rows, SlideOrder::squares}) {
    Slides slides{
        .files = folder / "a.tif",
        .size = 40,
        .order = order,
        .coords = {{.slide = "a", .at = at}},
        .regions = {.folder = folder.path().string(), .exclude = {}, .least = 0.7, .field = "kind", .mpp = 3}};
    const SlideSource source(slides);
    const auto labels = *source.labels("kind");
    std::set<std::int64_t> seen;
    for (std::uint64_t i = 0; i < source.size(); ++i) {
      const SlidePlace place = source.place(i);
      slides.coords = {
          {.slide = "a", .at = {{static_cast<std::int32_t>(place.x), static_cast<std::int32_t>(place.y)}}}};
      const SlideSource alone(slides);
      CHECK(alone.labels("kind")->front() == labels[i]);
      seen.insert(labels[i]);
    }
    CHECK(seen.size() == 3);
    slides.coords = {{.slide = "a", .at = {{0, 0}, {250, 0}, {300, 200}, {100, 200}}}};
    slides.regions.include = {"x"};
    CHECK(places_of(SlideSource(slides)) == std::vector<std::pair<std::int64_t, std::int64_t>>{{0, 0}, {100, 200}});
  }
}

}  // namespace PENSTOCK_TEST_FILE
