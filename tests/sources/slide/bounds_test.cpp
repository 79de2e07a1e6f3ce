// SPDX-License-Identifier: Apache-2.0
// Regions of slides of which OpenSlide's bounds are a part: what their coordinates count from.
#include <penstock/sources/slide.hpp>
#include <penstock/sources/slide_index.hpp>
#include <penstock/sources/slide_picture.hpp>

#include <openslide.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <penstock/penstock.hpp>

#include "sources/slide/leica_files.hpp"
#include "sources/slide/picture_checks.hpp"
#include "sources/slide/region_drawings.hpp"
#include "sources/slide/slide_images.hpp"
#include "sources/source_checks.hpp"
#include "sources/temp_folder.hpp"
#include "support/catch.hpp"
#include "support/thrown.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace penstock;
using namespace penstock_test;

namespace {

using Origin = SlideRegions::Origin;
using At = std::vector<std::pair<std::int64_t, std::int64_t>>;

constexpr LeicaGlass glass{.width = 400, .height = 300, .left = 100, .top = 150};

WrittenSlide write_part(const std::string& path) { return write_leica(path, glass, {.width = 200, .height = 100}); }

// Of 100 x 50 pixels, from the origin.
const std::vector<DrawnRegion> drawn{{"x", {{{{0, 0}, {100, 0}, {100, 50}, {0, 50}}}}}};
const std::string corner = "[[[0,0],[100,0],[100,50],[0,50],[0,0]]]";
const At from_slide{{0, 0}, {50, 0}}, from_bounds{{100, 150}, {150, 150}};

std::string feature(const std::string& more, const std::string& properties) {
  return R"({"type":"Feature",)" + more + R"("geometry":{"type":"Polygon","coordinates":)" + corner +
         R"(},"properties":)" + properties + "}";
}

struct Annotated {
  TempFolder folder;
  WrittenSlide part = write_part(folder / "a.scn");

  Slides slides(Origin origin = Origin::automatic) const {
    return {.files = folder / "*.scn",
            .size = 50,
            .regions = {.folder = folder.path().string(), .include = {"*"}, .mpp = 1, .origin = origin}};
  }
  SlideSource open(Origin origin = Origin::automatic) const {
    const SlideSource source(slides(origin));
    if (const auto& failure = source.slides().front().failure) throw Error(*failure);
    return source;
  }
  At places(Origin origin = Origin::automatic) const {
    const SlideSource source = open(origin);
    At at;
    for (std::uint64_t i = 0; i < source.size(); ++i) at.emplace_back(source.place(i).x, source.place(i).y);
    return at;
  }
  At places_of(const std::string& geojson) const {
    folder.write("a.geojson", geojson);
    return places();
  }
  // Why it isn't known what the file counts from.
  void check_refusal(const std::string& file) const {
    const Error error = error_of([&] { (void)open(); });
    CHECK(error.code() == Errc::unsupported);
    CHECK(error.file() == folder / file);
    CHECK(mentions(error, "x 100, y 150"));
    CHECK(mentions(error, "say which by `regions.origin`: `bounds` or `slide`"));
  }
};

}  // namespace

TEST_CASE("OpenSlide reads Leica's slides with bounds that are a part of level 0") {
  const TempFolder folder;
  write_part(folder / "a.scn");
  const std::unique_ptr<openslide_t, void (*)(openslide_t*)> slide(openslide_open((folder / "a.scn").c_str()),
                                                                   openslide_close);
  REQUIRE(slide != nullptr);
  REQUIRE(openslide_get_error(slide.get()) == nullptr);
  const auto property = [&](const char* name) { return std::string(openslide_get_property_value(slide.get(), name)); };
  CHECK(property("openslide.level[0].width") == "400");
  CHECK(property("openslide.level[0].height") == "300");
  CHECK(property("openslide.bounds-x") == "100");
  CHECK(property("openslide.bounds-y") == "150");
  CHECK(property("openslide.bounds-width") == "200");
  CHECK(property("openslide.bounds-height") == "100");
}

TEST_CASE("regions of QuPath count from OpenSlide's bounds, and it is said") {
  const Annotated a;
  a.folder.write("a.geojson", as_geojson(drawn));
  CHECK(a.places() == from_bounds);
  const SlideSource source = a.open();
  const OwnedSample sample = read_sample(source, 1);
  CHECK(number_of(sample, "x") == 150);
  CHECK(most_different(image_of(sample["image"]), box_of(a.part.pixels, 50, 0, 50, 50)) <= 1);
  CHECK(from(a.slides()).plan().find("1 slide: regions of QuPath moved by OpenSlide's bounds, x 100, y 150\n") !=
        std::string::npos);
  CHECK(a.places(Origin::slide) == from_slide);
  CHECK(from(a.slides(Origin::slide)).plan().find("moved") == std::string::npos);
  CHECK(a.places(Origin::bounds) == from_bounds);
  CHECK(from(a.slides(Origin::bounds)).plan().find("1 slide: regions moved by OpenSlide's bounds, x 100, y 150\n") !=
        std::string::npos);
  CHECK(SlideSource(a.slides(Origin::slide)).identity() != SlideSource(a.slides()).identity());
  write_part(a.folder / "b.scn");
  a.folder.write("b.geojson", as_geojson(drawn));
  CHECK(from(a.slides())
            .plan()
            .find("2 slides: regions of QuPath moved by OpenSlide's bounds, those of a by x 100, y 150\n") !=
        std::string::npos);
}

TEST_CASE("GeoJSON is QuPath's where each of its features says so") {
  const Annotated a;
  const std::string annotation = feature("", R"({"objectType":"annotation"})"),
                    other = feature("", R"({"classification":{"name":"x"}})");
  CHECK(a.places_of("[" + annotation + "]") == from_bounds);
  CHECK(a.places_of(annotation) == from_bounds);
  CHECK(a.places_of(feature("", R"({"object_type":"annotation"})")) == from_bounds);
  CHECK(a.places_of(feature(R"("id":"PathAnnotationObject",)", "{}")) == from_bounds);
  CHECK(a.places_of(feature("", R"({"objectType":"tmaCore"})")) == from_bounds);
  CHECK(a.places_of(R"({"type":"FeatureCollection","features":[)" + annotation + "," +
                    feature("", R"({"objectType":"detection"})") + "]}") == from_bounds);
  // What TRIDENT writes, other names, other kinds of objects, and no feature at all.
  for (const std::string& text :
       {R"({"type":"FeatureCollection","crs":{"type":"name"},"features":[)" + feature("", R"({"tissue_id":0})") + "]}",
        other, feature(R"("id":"7",)", "{}"), feature("", R"({"objectType":"street"})"),
        R"({"type":"Polygon","coordinates":)" + corner + "}",
        // One that doesn't say it is enough, wherever it stands.
        "[" + annotation + "," + other + "]", "[" + other + "," + annotation + "]",
        R"({"type":"FeatureCollection","features":[)" + other + "," + annotation + "]}"}) {
    CAPTURE(text);
    a.folder.write("a.geojson", text);
    a.check_refusal("a.geojson");
    CHECK(a.places(Origin::slide) == from_slide);
    CHECK(a.places(Origin::bounds) == from_bounds);
  }
  // Where there is no region, nothing can be misplaced.
  CHECK(a.places_of("[]").empty());
  CHECK(a.places_of(R"({"type":"Feature","geometry":{"type":"Point","coordinates":[1,2]}})").empty());
}

TEST_CASE("what ASAP's files count from has to be said") {
  const Annotated a;
  a.folder.write("a.xml", as_asap(drawn));
  a.check_refusal("a.xml");
  CHECK(a.places(Origin::slide) == from_slide);
  CHECK(a.places(Origin::bounds) == from_bounds);
}

TEST_CASE("a picture is of the bounds or of the slide, as is said") {
  const Annotated a;
  const auto write = [&](int width, int height) {
    std::vector<unsigned char> values;
    for (int i = 0; i < width * height; ++i) values.push_back(i % width < width / 4 ? 1 : 0);
    write_label_png(a.folder / "a.png", width, height, values);
  };
  write(20, 10);
  a.check_refusal("a.png");
  CHECK(mentions(error_of([&] { (void)a.open(); }), "bounds of the slide are 200x100 pixels at x 100, y 150"));
  CHECK(a.places(Origin::bounds) == At{{100, 150}, {100, 200}});
  CHECK(mentions(error_of([&] { (void)a.open(Origin::slide); }), "20x10 pixels, which is no 400x300 in small"));
  write(40, 30);
  a.check_refusal("a.png");
  CHECK(a.places(Origin::slide).size() == 12);
  CHECK(a.places(Origin::slide).back() == std::pair<std::int64_t, std::int64_t>(50, 250));
  CHECK(mentions(error_of([&] { (void)a.open(Origin::bounds); }), "40x30 pixels, which is no 200x100 in small"));
}

TEST_CASE("slides without bounds have one origin, and so have polygons of those whose bounds begin with the slide") {
  const TempFolder folder;
  write_slide(folder / "a.tif", micron_slide(400, 300));
  write_leica(folder / "b.scn", {.width = 400, .height = 300}, {.width = 200, .height = 100});
  const auto open = [&](const std::string& slide, Origin origin) {
    return SlideSource({.files = folder / slide,
                        .size = 50,
                        .regions = {.folder = folder.path().string(), .include = {"*"}, .origin = origin}});
  };
  const auto check_unmoved = [&](const std::string& slide) {
    for (const Origin origin : {Origin::automatic, Origin::slide, Origin::bounds}) {
      const SlideSource source = open(slide, origin);
      REQUIRE_FALSE(source.slides().front().failure.has_value());
      CHECK(source.place(0).x == 0);
      CHECK(source.place(0).y == 0);
      for (const std::string& line : source.left_out()) CHECK(line.find("moved") == std::string::npos);
    }
  };
  folder.write("a.tif.xml", as_asap(drawn));
  check_unmoved("a.tif");
  folder.write("b.scn.xml", as_asap(drawn));
  check_unmoved("b.scn");
  for (const char* file : {"a.tif.xml", "b.scn.xml"}) std::filesystem::remove(folder / file);
  write_label_png(folder / "a.png", 4, 3, std::vector<unsigned char>(12, 1));
  check_unmoved("a.tif");
  // Of which of the two a picture is makes a difference.
  write_label_png(folder / "b.png", 4, 2, std::vector<unsigned char>(8, 1));
  const auto failure = open("b.scn", Origin::automatic).slides().front().failure;
  REQUIRE(failure.has_value());
  CHECK(mentions(*failure, "bounds of the slide are 200x100 pixels at x 0, y 0"));
  CHECK(open("b.scn", Origin::bounds).size() == 8);
}

TEST_CASE("an index and pictures have regions where records have them") {
  const Annotated a;
  a.folder.write("a.geojson", as_geojson(drawn));
  Slides slides = a.slides();
  slides.index = a.folder / "a.tiles";
  write_slide_index(a.slides(), slides.index);
  const SlideSource indexed(slides), opened(a.slides());
  CHECK(indexed.identity() == opened.identity());
  CHECK(indexed.left_out() == opened.left_out());
  REQUIRE(indexed.size() == 2);
  CHECK(indexed.place(0).x == 100);
  const SlidePicture picture = draw_slide(indexed, 0);
  CHECK(picture.rgb == draw_slide(opened, 0).rgb);
  constexpr Rgb edge{215, 25, 28};
  CHECK(at(picture, 199, 160) == edge);
  CHECK_FALSE(at(picture, 99, 10) == edge);
  slides.regions.origin = Origin::slide;
  CHECK(mentions(error_of([&] { SlideSource{slides}; }), "regions.origin automatic, and regions.origin slide"));
}

}  // namespace PENSTOCK_TEST_FILE
