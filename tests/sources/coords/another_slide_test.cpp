// SPDX-License-Identifier: Apache-2.0
// Lists of places that say of which slide they are.
#include <penstock/sources/coords.hpp>
#include <penstock/sources/slide_index.hpp>

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <penstock/penstock.hpp>
#include <penstock/sources/coords_file.hpp>

#include "sources/slide/slide_files.hpp"
#include "sources/temp_folder.hpp"
#include "support/catch.hpp"
#include "support/thrown.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace penstock;
using namespace penstock_test;

namespace {

using Attributes = std::vector<FeatureAttribute>;
using Numbers = std::vector<std::int64_t>;

SlideCoords list_with(const TempFolder& folder, const Attributes& attributes) {
  const std::vector<std::array<std::int64_t, 2>> places{{0, 0}, {100, 50}};
  write_coords_file(folder / "a.h5", places, attributes);
  return read_coords(folder / "a.h5").front();
}

// Why the list is not that of the slide a; empty: it is.
std::string refusal(const TempFolder& folder, Slides slides) {
  slides.files = folder / "a.tif";
  const auto failure = SlideSource(slides).slides().front().failure;
  return failure ? failure->cause() : "";
}

Attributes trident(std::int64_t width, std::int64_t height) {
  return {{"patch_size", std::int64_t{50}},
          {"patch_size_level0", std::int64_t{50}},
          {"level0_width", width},
          {"level0_height", height}};
}
Attributes clam(std::int64_t level, const Numbers& level_size, double downsample) {
  return {{"patch_size", std::int64_t{50}},
          {"patch_level", level},
          {"downsample", std::vector<double>{downsample, downsample}},
          {"level_dim", level_size}};
}

}  // namespace

TEST_CASE("a list that TRIDENT made of a slide of another size is refused") {
  const TempFolder folder;
  write_slide(folder / "a.tif", {.width = 400, .height = 300});
  const auto with = [&](std::int64_t width, std::int64_t height) {
    return refusal(folder, {.size = 50, .coords = {list_with(folder, trident(width, height))}});
  };
  CHECK(with(400, 300) == "");
  CHECK(with(401, 300) ==
        "slide a: the list is of a slide of 401x300 pixels, and this one has 400x300; give the slide that it was made "
        "of, or a list of this one");
  CHECK(with(400, 299).find("of 400x299 pixels, and this one has 400x300") != std::string::npos);
  // Places of any size are still those of one slide.
  CHECK(refusal(folder, {.size = 70, .coords = {list_with(folder, trident(800, 600))}, .coords_of_any_size = true}) !=
        "");
  CHECK(refusal(folder, {.size = 70, .coords = {list_with(folder, trident(400, 300))}, .coords_of_any_size = true}) ==
        "");
  // As one who doesn't know writes it.
  CHECK(with(0, -1) == "");
  const SlideCoords half = list_with(folder, {{"level0_width", std::int64_t{300}}, {"level0_height", "None"}});
  CHECK(half.slide_width == 300);
  CHECK(half.slide_height == 0);
  CHECK(refusal(folder, {.size = 50, .coords = {half}}).find("of a slide of 300x? pixels") != std::string::npos);
}

TEST_CASE("a list that CLAM made of a slide of another size is refused") {
  const TempFolder folder;
  write_slide(folder / "a.tif", {.width = 400, .height = 300, .lower = {{200, 150}}});
  const auto with = [&](const Attributes& attributes, std::int32_t level) {
    return refusal(folder, {.level = level, .size = 50, .coords = {list_with(folder, attributes)}});
  };
  CHECK(with(clam(0, {400, 300}, 1), 0) == "");
  CHECK(with(clam(0, {400, 301}, 1), 0).find("of 400x301 pixels, and this one has 400x300") != std::string::npos);
  CHECK(with(clam(1, {200, 150}, 2), 1) == "");
  CHECK(with(clam(1, {250, 150}, 2), 1).find("of 500x300 pixels, and this one has 400x300") != std::string::npos);
  // Sizes of lower levels are rounded.
  CHECK(with(clam(1, {200, 150}, 2.004), 1) == "");
  CHECK(with(clam(1, {200, 149}, 2), 1) != "");
  // What it says of level 0 says it all.
  CHECK(with(clam(0, {400, 300}, 4), 0) == "");
  const SlideCoords list = list_with(folder, clam(1, {200, 150}, 2));
  CHECK(list.slide_width == 400);
  CHECK(list.slide_height == 300);
  CHECK(list.downsample == 2);
}

TEST_CASE("how large a listed place is follows from what its list says of the level") {
  const TempFolder folder;
  write_slide(folder / "a.tif", {.width = 400, .height = 300, .lower = {{200, 150}}});
  // Of a file of the same slide that has other levels.
  const Slides slides{.level = 1, .size = 50, .coords = {list_with(folder, clam(1, {100, 75}, 4))}};
  CHECK(refusal(folder, slides).find("its places show 200 pixels of level 0 on each side, and records 100") !=
        std::string::npos);
  CHECK(refusal(folder, {.size = 50, .coords = {list_with(folder, clam(3, {400, 300}, 1))}}) == "");
  CHECK(refusal(folder, {.size = 100, .coords = {list_with(folder, clam(1, {200, 150}, 2))}}) == "");
  Attributes custom = clam(0, {400, 300}, 1);
  custom.push_back({"custom_downsample", std::int64_t{2}});
  CHECK(list_with(folder, custom).size == 100);
}

TEST_CASE("lists that are written say of which slide they are") {
  const TempFolder folder;
  for (const char* name : {"one", "two"}) std::filesystem::create_directory(folder / name);
  SlideForm form{.width = 400, .height = 300, .lower = {{200, 150}}, .per_unit = 40'000};
  write_slide(folder / "one/a.tif", form);
  form.height = 280;
  form.lower = {{200, 140}};
  write_slide(folder / "two/a.tif", form);
  for (const Slides& pixels : {Slides{.size = 50}, Slides{.level = 1, .size = 50}, Slides{.mpp = 1, .size = 20}}) {
    Slides slides = pixels;
    slides.paths = {folder / "one/a.tif"};
    std::filesystem::remove_all(folder / "lists");
    REQUIRE(write_coords(SlideSource(slides), folder / "lists").notes.empty());
    int lists = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder / "lists")) {
      ++lists;
      slides.coords = read_coords(entry.path().string());
      slides.paths = {folder / "one/a.tif"};
      const SlideSource same(slides);
      CHECK_FALSE(same.slides().front().failure.has_value());
      slides.paths = {folder / "two/a.tif"};
      const SlideSource other(slides);
      REQUIRE(other.slides().front().failure.has_value());
      CHECK(mentions(*other.slides().front().failure, "of a slide of 400x300 pixels, and this one has 400x280"));
    }
    CHECK(lists == 2);
  }
}

TEST_CASE("an index knows lists by what they say of the slide, too") {
  const TempFolder folder;
  write_slide(folder / "a.tif", {.width = 400, .height = 300});
  Slides slides{.files = folder / "a.tif", .size = 50, .coords = {list_with(folder, trident(400, 300))}};
  write_slide_index(slides, folder / "a.tiles");
  slides.index = folder / "a.tiles";
  CHECK(SlideSource(slides).size() == 2);
  const auto check_changed = [&](auto change) {
    Slides changed = slides;
    change(changed.coords.front());
    CHECK(mentions(error_of([&] { SlideSource{changed}; }), "has another list of places now"));
  };
  check_changed([](SlideCoords& list) { list.slide_width = 401; });
  check_changed([](SlideCoords& list) { list.slide_height = 0; });
  check_changed([](SlideCoords& list) { list.downsample = 1; });
}

}  // namespace PENSTOCK_TEST_FILE
