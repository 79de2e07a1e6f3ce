// SPDX-License-Identifier: Apache-2.0
// Records in regions, against the definition in plain words.
#include <penstock/sources/slide.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <penstock/penstock.hpp>

#include "sources/slide/region_drawings.hpp"
#include "sources/slide/slide_files.hpp"
#include "sources/slide/slide_images.hpp"
#include "sources/source_checks.hpp"
#include "sources/temp_folder.hpp"
#include "support/catch.hpp"
#include "support/thrown.hpp"

using namespace penstock;
using namespace penstock_test;

namespace {

constexpr int width = 400, height = 300;

// A micrometre a pixel.
SlideForm plain_slide() { return {.width = width, .height = height, .per_unit = 10'000}; }

bool inside(const std::vector<Ring>& rings, double x, double y) {
  bool odd = false;
  for (const Ring& ring : rings)
    for (std::size_t i = 0; i < ring.size(); ++i) {
      auto [x0, y0] = ring[i];
      auto [x1, y1] = ring[(i + 1) % ring.size()];
      if (y0 > y1) std::swap(x0, x1), std::swap(y0, y1);
      if (y0 <= y && y < y1 && x0 + (y - y0) * (x1 - x0) / (y1 - y0) <= x) odd = !odd;
    }
  return odd;
}

// Whether a point of level 0 is in the class.
using InClass = std::function<bool(const std::string& name, double x, double y)>;

InClass of_drawing(const std::vector<DrawnRegion>& regions) {
  return [regions](const std::string& name, double x, double y) {
    return std::ranges::any_of(regions, [&](const DrawnRegion& region) {
      return region.name == name && std::ranges::any_of(region.polygons, [&](const std::vector<Ring>& polygon) {
               return inside(polygon, x, y);
             });
    });
  };
}

bool has(const std::vector<std::string>& list, const std::string& name) {
  return std::ranges::find(list, name) != list.end() || std::ranges::find(list, "*") != list.end();
}

// Places and what they show, by the words of SlideRegions.
std::map<std::pair<int, int>, std::string> plain_places(const std::vector<std::string>& names, const InClass& in_class,
                                                        const SlideRegions& rules, int k, int size, int stride,
                                                        SlideEdges edges) {
  // A pixel in small: whether it counts, and what it shows.
  struct Pixel {
    bool allowed, told;
    std::vector<std::string> classes;
  };
  const int wide = (width + k - 1) / k, high = (height + k - 1) / k;
  std::vector<Pixel> plane;
  for (int v = 0; v < high; ++v)
    for (int u = 0; u < wide; ++u) {
      const double cx = (u + .5) * k, cy = (v + .5) * k;
      bool excluded = false;
      std::vector<std::string> classes;
      for (const std::string& name : names) {
        if (!in_class(name, cx, cy)) continue;
        if (has(rules.exclude, name)) excluded = true;
        if (!has(rules.exclude, name) && (rules.include.empty() || has(rules.include, name))) classes.push_back(name);
      }
      const bool told = !excluded && !classes.empty();
      if (excluded) classes.clear();
      plane.push_back({!excluded && (told || rules.include.empty()), told, classes});
    }
  // Pixels along a side whose centres lie in a place, or the one that its centre lies in.
  const auto ends = [&](int begin, int image, int count) {
    int from = count, to = 0;
    for (int i = 0; i < count; ++i)
      if ((i + .5) * k >= begin && (i + .5) * k < std::min(begin + size, image)) from = std::min(from, i), to = i + 1;
    if (from >= to) from = std::min(std::min(begin + size / 2, image - 1) / k, count - 1), to = from + 1;
    return std::pair(from, to);
  };
  std::map<std::pair<int, int>, std::string> places;
  const bool all = edges != SlideEdges::drop;
  for (int y = 0; all ? y < height : y + size <= height; y += stride)
    for (int x = 0; all ? x < width : x + size <= width; x += stride) {
      double pixels = 0, allowed = 0, told = 0;
      std::map<std::string, double> of_class;
      const auto [left, right] = ends(x, width, wide);
      const auto [top, bottom] = ends(y, height, high);
      for (int v = top; v < bottom; ++v)
        for (int u = left; u < right; ++u) {
          const Pixel& pixel = plane[static_cast<std::size_t>(v * wide + u)];
          pixels += 1;
          allowed += pixel.allowed ? 1 : 0;
          told += pixel.told ? 1 : 0;
          for (const std::string& name : pixel.classes) of_class[name] += 1;
        }
      if (allowed == 0 || allowed < rules.least * pixels) continue;
      std::string shown;
      if (told > 0 && (told >= rules.least * pixels || !rules.include.empty())) {
        double most = 0;
        for (const auto& [name, count] : of_class)
          if (count > most) most = count, shown = name;
      }
      places[{x, y}] = shown;
    }
  return places;
}

std::map<std::pair<int, int>, std::string> places_of(const SlideSource& source, const std::string& field) {
  std::map<std::pair<int, int>, std::string> places;
  const Schema schema = source.schema();
  const auto labels = source.labels(field);
  for (std::uint64_t i = 0; i < source.size(); ++i) {
    const SlidePlace place = source.place(i);
    std::string shown;
    if (!field.empty()) {
      const auto number = (*labels)[static_cast<std::size_t>(i)];
      shown = schema.at(field).classes[static_cast<std::size_t>(number)];
      if (i % 97 == 0) CHECK(number_of(read_sample(source, i), field) == number);
    }
    CHECK(places.emplace(std::pair(static_cast<int>(place.x), static_cast<int>(place.y)), shown).second);
  }
  return places;
}

Ring random_ring(Numbers& numbers) {
  // Beyond the slide as well; some on centres and edges of pixels, and some that cross themselves.
  Ring ring;
  const int points = numbers.from(3, 9), x = numbers.from(-40, width), y = numbers.from(-40, height),
            reach = numbers.from(10, 260);
  for (int i = 0; i < points; ++i) {
    const double fraction = numbers.below(3) == 0 ? 0 : numbers.below(1000) / 997.;
    ring.emplace_back(x + numbers.below(reach) + fraction, y + numbers.below(reach) + fraction);
  }
  return ring;
}

std::vector<DrawnRegion> random_drawing(Numbers& numbers, bool holes) {
  std::vector<DrawnRegion> regions;
  for (int i = numbers.from(1, 7); i > 0; --i) {
    DrawnRegion region{std::string(1, static_cast<char>('a' + numbers.below(4))), {}};
    for (int polygons = holes ? numbers.from(1, 3) : 1; polygons > 0; --polygons) {
      std::vector<Ring> rings{random_ring(numbers)};
      if (holes && numbers.below(2) == 0) rings.push_back(random_ring(numbers));
      region.polygons.push_back(rings);
    }
    regions.push_back(region);
  }
  return regions;
}

}  // namespace

TEST_CASE("records are the places in regions by the definition, and show what it says") {
  const TempFolder folder;
  write_slide(folder / "a.tif", plain_slide());
  Numbers numbers(3);
  std::set<std::size_t> counts;
  std::map<std::string, int> shown;
  for (int trial = 0; trial < 600; ++trial) {
    std::vector<std::string> names{"a", "b", "c", "d"};
    InClass in_class;
    const int form = trial % 3;
    std::vector<DrawnRegion> drawing = random_drawing(numbers, form == 0);
    if (form == 2) {
      const int wide = numbers.from(7, 120), high = static_cast<int>(std::lround(wide * .75));
      std::vector<unsigned char> values(static_cast<std::size_t>(wide * high));
      for (auto& value : values) value = static_cast<unsigned char>(numbers.below(3) == 0 ? 0 : numbers.from(1, 3));
      names = {"1", "2", "3"};
      write_label_png(folder / "a.png", wide, high, values, numbers.below(2) == 0);
      in_class = [=](const std::string& name, double x, double y) {
        const int u = std::min(wide - 1, static_cast<int>(x * wide / width)),
                  v = std::min(high - 1, static_cast<int>(y * high / height));
        return std::to_string(values[static_cast<std::size_t>(v * wide + u)]) == name;
      };
    } else {
      folder.write(form == 0 ? "a.geojson" : "a.xml", form == 0 ? as_geojson(drawing) : as_asap(drawing));
      in_class = of_drawing(drawing);
      std::erase_if(names, [&](const std::string& name) {
        return std::ranges::none_of(drawing, [&](const DrawnRegion& region) { return region.name == name; });
      });
    }
    const auto some = [&] {
      std::vector<std::string> list;
      for (const std::string& name : names)
        if (numbers.coin()) list.push_back(name);
      if (numbers.below(4) == 0) list = {"*"};
      return list;
    };
    SlideRegions rules{.folder = folder.path().string(), .include = some(), .exclude = some(), .field = "kind"};
    if (has(rules.exclude, "*")) rules.exclude.clear();
    std::erase_if(rules.exclude, [&](const std::string& name) {
      return std::ranges::find(rules.include, name) != rules.include.end();
    });
    rules.least = std::array{0., .1, .5, .9, 1.}[static_cast<std::size_t>(numbers.below(5))];
    const int k = numbers.below(20) == 0 ? 1 : numbers.from(3, 9);
    rules.mpp = k + numbers.below(2) * .7;
    const int size = numbers.from(2, 60), stride = numbers.from(2, 70);
    const SlideOrder order = numbers.below(2) == 0 ? SlideOrder::rows : SlideOrder::squares;
    const SlideEdges edges = size <= stride && numbers.below(3) == 0 ? SlideEdges::pad : SlideEdges::drop;
    CAPTURE(trial, k, size, stride, rules.least, rules.include, rules.exclude, static_cast<int>(edges));
    const SlideSource source(
        {.files = folder / "a.tif", .size = size, .stride = stride, .edges = edges, .order = order, .regions = rules});
    REQUIRE_FALSE(source.slides().front().failure.has_value());
    const auto expected = plain_places(names, in_class, rules, k, size, stride, edges);
    CHECK(places_of(source, "kind") == expected);
    counts.insert(expected.size());
    for (const auto& [place, name] : expected) ++shown[name];
    // Without a field the same places are records.
    rules.field.clear();
    if (!rules.include.empty() || !rules.exclude.empty()) {
      const SlideSource without({.files = folder / "a.tif",
                                 .size = size,
                                 .stride = stride,
                                 .edges = edges,
                                 .order = order,
                                 .regions = rules});
      CHECK(without.size() == source.size());
      CHECK_FALSE(without.schema().find("kind").has_value());
    }
    for (const char* ending : {".geojson", ".xml", ".png"})
      std::filesystem::remove(folder / ("a" + std::string(ending)));
  }
  CHECK(counts.size() > 150);
  CHECK(shown.size() == 8);
}

TEST_CASE("rings that cross or lie in one another go by the even-odd rule, and regions are joined") {
  const TempFolder folder;
  write_slide(folder / "a.tif", plain_slide());
  const auto square = [](double from, double to) { return Ring{{from, from}, {to, from}, {to, to}, {from, to}}; };
  const auto turned = [](Ring ring) { return Ring(ring.rbegin(), ring.rend()); };
  const Ring star{{110, 0}, {180, 200}, {0, 80}, {220, 80}, {40, 200}};
  struct Case {
    const char* name;
    std::vector<std::vector<Ring>> polygons;
    std::vector<std::pair<int, int>> in, out;  // places of 20 pixels
  };
  for (const Case& c : std::vector<Case>{
           {"a hole", {{square(0, 200), square(40, 160)}}, {{20, 20}}, {{100, 100}}},
           {"a hole that goes round as the outside does",
            {{square(0, 200), turned(square(40, 160))}},
            {{20, 20}},
            {{100, 100}}},
           {"an island in a hole",
            {{square(0, 200), square(40, 160), square(80, 120)}},
            {{20, 20}, {100, 100}},
            {{60, 60}}},
           {"holes that overlap",
            {{square(0, 200), square(40, 120), square(80, 160)}},
            {{20, 20}, {100, 100}},
            {{60, 60}, {140, 140}}},
           {"a hole beyond the outside", {{square(0, 100), square(60, 160)}}, {{20, 20}, {120, 120}}, {{80, 80}}},
           {"a bow tie", {{{{0, 0}, {200, 200}, {200, 0}, {0, 200}}}}, {{20, 100}, {160, 100}}, {{80, 20}, {80, 160}}},
           {"a star of one line", {{star}}, {{100, 40}, {40, 80}}, {{100, 100}}},
           {"a ring that goes round twice",
            {{{{0, 0}, {200, 0}, {200, 200}, {0, 200}, {0, 0}, {200, 0}, {200, 200}, {0, 200}}}},
            {},
            {{100, 100}}},
           {"two polygons that overlap", {{square(0, 120)}, {square(80, 200)}}, {{20, 20}, {100, 100}, {160, 160}}, {}},
           {"a polygon in another's hole",
            {{square(0, 200), square(40, 160)}, {square(60, 140)}},
            {{20, 20}, {100, 100}},
            {{40, 40}}},
       }) {
    CAPTURE(c.name);
    for (const bool apart : {false, true}) {  // polygons of one region, or regions of one class
      std::vector<DrawnRegion> drawn{{"t", c.polygons}};
      if (apart) drawn.clear();
      for (const auto& polygon : c.polygons)
        if (apart) drawn.push_back({"t", {polygon}});
      folder.write("regions/a.geojson", as_geojson(drawn));
      const SlideSource source({.files = folder / "a.tif",
                                .size = 20,
                                .regions = {.folder = folder / "regions", .include = {"t"}, .mpp = 1}});
      const auto places = places_of(source, "");
      for (const auto& place : c.in) CHECK(places.contains(place));
      for (const auto& place : c.out) CHECK_FALSE(places.contains(place));
    }
  }
}

TEST_CASE("regions and tissue both have their say, on images of any size of pixels") {
  const TempFolder folder;
  SlideForm form = plain_slide();
  form.tile_width = form.tile_height = 64;
  // Stain on the left half.
  form.draw = [](const penstock::ImageShape& shape) {
    Image image(shape);
    for (std::int32_t y = 0; y < shape.height; ++y)
      for (std::int32_t x = 0; x < shape.width; ++x)
        for (std::int32_t c = 0; c < 3; ++c)
          image.at(y, x, c) = x >= 200 ? std::uint8_t{250} : c == 1 ? std::uint8_t{90} : std::uint8_t{190};
    return image;
  };
  write_slide(folder / "a.tif", form);
  // The upper half.
  folder.write("a.geojson", as_geojson({{"tumor", {{{{0, 0}, {400, 0}, {400, 150}, {0, 150}}}}}}));
  const SlideTissue tissue{.by = SlideTissue::By::saturation, .mpp = 4, .closing = 0, .least_area = 0};
  const SlideRegions regions{.folder = folder.path().string(), .include = {"tumor"}, .least = 1, .field = "kind"};
  for (const double mpp : {1., 2.}) {
    const auto size = static_cast<std::int32_t>(50 / mpp);
    const SlideSource source(
        {.files = folder / "a.tif", .mpp = mpp, .size = size, .tissue = tissue, .regions = regions});
    std::set<std::pair<std::int64_t, std::int64_t>> places;
    for (std::uint64_t i = 0; i < source.size(); ++i) places.insert({source.place(i).x, source.place(i).y});
    std::set<std::pair<std::int64_t, std::int64_t>> expected;
    for (std::int64_t y = 0; y < 150; y += 50)
      for (std::int64_t x = 0; x < 200; x += 50) expected.insert({x, y});
    CHECK(places == expected);
    CHECK(source.slides().front().places == 48);
    CHECK(source.slides().front().region_file == folder / "a.geojson");
  }
  const std::string plan =
      from(Slides{.files = folder / "a.tif", .size = 50, .tissue = tissue, .regions = regions}).plan();
  CHECK(plan.find("36 of 48 places show less tissue than `tissue.least`, or lie where `regions` wants none") !=
        std::string::npos);
}

TEST_CASE("classes of regions are numbered for all slides together") {
  const TempFolder folder;
  for (const char* name : {"a", "b", "c"}) write_slide(folder / (std::string(name) + ".tif"), plain_slide());
  const Ring all{{0, 0}, {400, 0}, {400, 300}, {0, 300}}, corner{{0, 0}, {100, 0}, {100, 100}, {0, 100}};
  folder.write("a.geojson", as_geojson({{"tumor", {{all}}}}));
  folder.write("b.geojson",
               as_geojson({{"fat", {{corner}}}, {"", {{{{300, 200}, {400, 200}, {400, 300}, {300, 300}}}}}}));
  const Slides slides{
      .files = folder / "?.tif",
      .size = 100,
      .regions = {.folder = folder.path().string(), .field = "kind", .missing = SlideRegions::Missing::empty}};
  const SlideSource source(slides);
  CHECK(source.schema().at("kind").classes == ClassNames({"", "fat", "tumor", "unclassified"}));
  std::vector<std::int64_t> expected(12, 2);
  expected.insert(expected.end(), {1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3});
  expected.insert(expected.end(), 12, 0);
  CHECK(source.labels("kind") == expected);
  CHECK(from(slides).plan().find("1 slide without a file in ") != std::string::npos);

  // Those that are asked for have the numbers of their own order, whoever is there.
  Slides some = slides;
  some.regions.include = {"tumor", "fat"};
  CHECK(SlideSource(some).schema().at("kind").classes == ClassNames({"fat", "tumor"}));
  CHECK(SlideSource(some).size() == 13);
  CHECK(SlideSource(some).slides()[2].records == 0);

  // Draws by what a record shows need no pixels.
  Loader loader(from(slides) | draw_balanced("kind", {.count = 400, .seed = 1}) | select_fields({"kind"}) | batch(50),
                {.threads = 2, .epochs = 1});
  std::map<std::int64_t, int> drawn;
  while (const auto batch = loader.next()) {
    const auto kinds = batch->view<const std::int64_t, 1>("kind");
    for (std::int64_t row = 0; row < kinds.extent(0); ++row) ++drawn[kinds(row)];
  }
  CHECK(drawn.size() == 4);
  for (const auto& [kind, count] : drawn) CHECK(count > 60);
}

TEST_CASE("without `include`, a place of which less than `least` is in any class shows none") {
  const TempFolder folder;
  write_slide(folder / "a.tif", plain_slide());
  const auto box = [](double left, double right, double top, double bottom) {
    return std::vector<Ring>{{{left, top}, {right, top}, {right, bottom}, {left, bottom}}};
  };
  // 40 % of the first place; 32 % and 28 % of the second.
  folder.write("a.geojson",
               as_geojson({{"tumor", {box(0, 100, 0, 40), box(100, 200, 0, 32)}}, {"fat", {box(100, 200, 32, 60)}}}));
  struct Case {
    double least;
    std::int64_t first, second;
  };
  for (const Case& c : {Case{.7, 0, 0}, {.5, 0, 2}, {.3, 2, 2}, {0, 2, 2}}) {
    CAPTURE(c.least);
    const SlideSource source({.files = folder / "a.tif",
                              .size = 100,
                              .regions = {.folder = folder.path().string(), .least = c.least, .field = "kind"}});
    CHECK(source.schema().at("kind").classes == ClassNames({"", "fat", "tumor"}));
    std::vector<std::int64_t> expected(12);
    expected[0] = c.first, expected[1] = c.second;
    CHECK(source.labels("kind") == expected);
  }
}

TEST_CASE("what regions say is part of the identity") {
  const TempFolder folder;
  write_slide(folder / "a.tif", plain_slide());
  const Ring left{{0, 0}, {200, 0}, {200, 300}, {0, 300}};
  folder.write("a.geojson", as_geojson({{"x", {{left}}}, {"y", {{{{200, 0}, {400, 0}, {400, 300}, {200, 300}}}}}}));
  const auto identity = [&](const SlideRegions& regions) {
    SlideRegions there = regions;
    there.folder = folder.path().string();
    return SlideSource({.files = folder / "a.tif", .size = 50, .regions = there}).identity();
  };
  std::set<std::uint64_t> all{SlideSource({.files = folder / "a.tif", .size = 50}).identity(),
                              identity({.include = {"x"}}),
                              identity({.include = {"y"}}),
                              identity({.include = {"x"}, .field = "kind"}),
                              identity({.field = "kind"}),
                              identity({.exclude = {"x"}}),
                              identity({.exclude = {"x"}, .least = 0.4})};
  CHECK(all.size() == 7);
  // A drawing in another form shows what the first one shows.
  const std::uint64_t before = identity({.field = "kind"});
  std::filesystem::remove(folder / "a.geojson");
  folder.write("a.xml", as_asap({{"x", {{left}}}, {"y", {{{{200, 0}, {400, 0}, {400, 300}, {200, 300}}}}}}));
  CHECK(identity({.field = "kind"}) == before);
  folder.write("a.xml", as_asap({{"y", {{left}}}, {"x", {{{{200, 0}, {400, 0}, {400, 300}, {200, 300}}}}}}));
  CHECK(identity({.field = "kind"}) != before);
}
