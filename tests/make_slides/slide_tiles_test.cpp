// SPDX-License-Identifier: Apache-2.0
// What stands in slides that are drawn, as another library reads them.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "slide_file.hpp"
#include "support/catch.hpp"

using namespace penstock_test;

namespace {

using Words = std::vector<std::string>;

Words joined(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

constexpr std::uint16_t photometric_rgb = 2, photometric_ycbcr = 6;

void check_format(const SlideFile& slide, const std::string& format, const std::string& colours) {
  const auto& levels = slide.levels();
  CHECK(slide.directories() == (format == "ome" ? 1 : levels.size()));
  for (std::size_t level = 0; level < levels.size(); ++level) {
    const SlideFile::Level& l = levels[level];
    CHECK(l.subfile_type == (format == "aperio" || level == 0 ? 0 : 1));
    CHECK(l.photometric == (colours == "rgb" ? photometric_rgb : photometric_ycbcr));
    if (format == "aperio") {
      CHECK(l.description.starts_with("Aperio Image Library "));
      CHECK(l.description.ends_with("|AppMag = 20|MPP = 0.5"));
      CHECK(l.per_cm == 0);
    } else {
      CHECK(l.per_cm == 20000 / static_cast<double>(1u << level));
    }
    if (colours == "rgb") continue;
    CHECK(l.subsampling_x == (colours == "444" ? 1 : 2));
    CHECK(l.subsampling_y == (colours == "420" ? 2 : 1));
  }
  if (format == "ome") {
    CHECK(levels[0].description.find("SizeX=\"601\" SizeY=\"427\" SizeC=\"3\"") != std::string::npos);
    CHECK(levels[0].description.find("PhysicalSizeX=\"0.5\" PhysicalSizeY=\"0.5\"") != std::string::npos);
    CHECK(levels[0].description.find(fmt::format("BigEndian=\"{}\"", slide.big_endian())) != std::string::npos);
  }
}

}  // namespace

TEST_CASE("every tile of a slide decodes in every format, order of bytes and colours") {
  const TempFolder folder;
  const std::string path = folder / "slide";
  const Words size{"--size", "601x427", "--tile", "64", "--levels", "3", "--quality", "95", "--force"};
  std::vector<Picture> first;  // levels of the first slide: the others show the same
  for (const std::string format : {"aperio", "tiff", "ome"})
    for (const bool big_endian : {false, true})
      for (const bool big_tiff : {false, true})
        for (const std::string colours : {"444", "420", "422", "rgb"}) {
          INFO(format << " " << big_endian << " " << big_tiff << " " << colours);
          Words more{"--format", format};
          if (big_endian) more.emplace_back("--big-endian");
          if (big_tiff) more.emplace_back("--big-tiff");
          more = joined(more, colours == "rgb" ? Words{"--color", "rgb"} : Words{"--subsampling", colours});
          draw_slide(path, joined(size, more));
          SlideFile slide(path);
          CHECK(slide.big_endian() == big_endian);
          CHECK(slide.big_tiff() == big_tiff);
          REQUIRE(slide.levels().size() == 3);
          check_format(slide, format, colours);
          std::uint32_t width = 601, height = 427;
          for (std::size_t level = 0; level < 3; ++level, width /= 2, height /= 2) {
            const SlideFile::Level& l = slide.levels()[level];
            CHECK(l.width == width);
            CHECK(l.height == height);
            CHECK(l.tile == 64);
            CHECK(l.tiles == (width + 63) / 64 * ((height + 63) / 64));
            const Picture picture = slide.picture(level);
            if (first.size() <= level) first.push_back(picture);
            CHECK(mean_difference(picture, first[level]) < 4);
          }
        }
}

TEST_CASE("each level is the one above it halved, and tiles of any size show the same") {
  const TempFolder folder;
  draw_slide(folder / "a.tif",
             {"--size", "1201x907", "--quality", "95", "--subsampling", "444", "--levels", "4", "--seed", "7"});
  SlideFile slide(folder / "a.tif");
  const Picture whole = slide.picture(0);
  Picture above = whole;
  for (std::size_t level = 1; level < 4; ++level) {
    const Picture below = slide.picture(level);
    CHECK(mean_difference(halved(above), below) < 2);
    above = below;
  }
  for (const std::string tile : {"16", "240", "512"}) {
    draw_slide(folder / "b.tif", {"--size", "1201x907", "--quality", "95", "--subsampling", "444", "--levels", "4",
                                  "--seed", "7", "--tile", tile, "--force"});
    SlideFile other(folder / "b.tif");
    // Blocks of JPEGs begin at multiples of 8 in all of them, so that they are the same.
    CHECK((other.picture(0).rgb == whole.rgb));
    CHECK((other.picture(3).rgb == above.rgb));
  }
}

TEST_CASE("tiles at the edges are filled with the last row and column") {
  const TempFolder folder;
  // The middle of slides as thin as these, where tissue is, is the edge as well.
  for (const bool wide : {true, false}) {
    draw_slide(folder / "a.tif", {"--size", wide ? "200x1" : "1x200", "--tile", "128", "--quality", "95",
                                  "--subsampling", "444", "--levels", "1", "--force"});
    SlideFile slide(folder / "a.tif");
    int most = 0, least = 255;
    for (const std::uint32_t number : {0u, 1u}) {
      const Picture tile = slide.tile(0, number);
      const std::int32_t last = number == 0 ? 127 : 200 - 128 - 1, last_x = wide ? last : 0, last_y = wide ? 0 : last;
      for (std::int32_t y = 0; y < 128; ++y)
        for (std::int32_t x = 0; x < 128; ++x)
          for (int c = 0; c < 3; ++c) {
            const int edge = tile.at(std::min(x, last_x), std::min(y, last_y))[c];
            most = std::max(most, std::abs(tile.at(x, y)[c] - edge));
            least = std::min(least, edge);
          }
    }
    CHECK(most < 24);
    CHECK(least < 180);
  }
}

TEST_CASE("tissue is pink, tumor has more and larger nuclei, glass around it is white") {
  const TempFolder folder;
  double dark[2] = {}, pink[2] = {};
  for (const std::string kind : {"benign", "tumor"})
    for (const std::string seed : {"1", "2", "3"}) {
      draw_slide(folder / "a.tif", {"--size", "1500x1200", "--kind", kind, "--seed", seed, "--levels", "1", "--force"});
      const Picture picture = SlideFile(folder / "a.tif").picture(0);
      for (const std::int32_t x : {2, 1497})
        for (const std::int32_t y : {2, 1197})
          for (int c = 0; c < 3; ++c) CHECK(picture.at(x, y)[c] > 225);
      int nuclei = 0, stroma = 0;
      for (std::int32_t y = 400; y < 800; ++y)
        for (std::int32_t x = 500; x < 1000; ++x) {
          const std::uint8_t* p = picture.at(x, y);
          nuclei += p[0] < 130 && p[2] > p[0] ? 1 : 0;
          stroma += p[0] > 180 && p[1] < p[0] - 25 && p[2] > p[1] ? 1 : 0;
        }
      dark[kind == "tumor" ? 1 : 0] += nuclei / (3 * 200000.0);
      pink[kind == "tumor" ? 1 : 0] += stroma / (3 * 200000.0);
    }
  CHECK(dark[0] > 0.01);
  CHECK(dark[0] < 0.12);
  CHECK(dark[1] > 2 * dark[0]);
  CHECK(pink[0] > 0.4);
  CHECK(pink[1] > 0.15);
}

TEST_CASE("repeated tiles: places share tiles, levels fit each other, and a gigapixel takes megabytes") {
  const TempFolder folder;
  draw_slide(folder / "a.tif", {"--size", "5003x3001", "--tile", "64", "--quality", "95", "--subsampling", "444",
                                "--levels", "5", "--repeat"});
  SlideFile slide(folder / "a.tif");
  Picture above;
  for (std::size_t level = 0; level < 5; ++level) {
    const SlideFile::Level& l = slide.levels()[level];
    CHECK(l.width == 5003u >> level);
    CHECK(l.height == 3001u >> level);
    CHECK(std::ranges::count(l.bytes, 0u) == 0);
    CHECK(std::set(l.offsets.begin(), l.offsets.end()).size() < (level < 3 ? l.tiles / 2 : l.tiles + 1));
    const Picture picture = slide.picture(level);
    if (level != 0) CHECK(mean_difference(halved(above), picture) < 2);
    above = picture;
  }

  const ToolResult large = draw_slide(folder / "b.svs", {"--gigapixels", "1", "--repeat", "--json"});
  CHECK(large.json()["bytes"] < 12'000'000);
  CHECK(large.cpu_s < 20);
  SlideFile one(folder / "b.svs");
  CHECK(std::uint64_t{one.levels()[0].width} * one.levels()[0].height > 999'000'000);
  CHECK(std::ranges::count(one.levels()[0].bytes, 0u) == 0);
  one.tile(0, one.levels()[0].tiles / 2);
  one.picture(one.levels().size() - 1);
}

TEST_CASE("bad tiles: these are damaged, and no others") {
  const TempFolder folder;
  for (const bool repeat : {false, true}) {
    Words size{"--size", "1800x1500", "--force"};
    if (repeat) size.emplace_back("--repeat");
    draw_slide(folder / "good.svs", size);
    const ToolResult drawn = draw_slide(folder / "bad.svs", joined(size, {"--bad-tiles", "12", "--json"}));
    const ToolResult text = draw_slide(folder / "bad.svs", joined(size, {"--bad-tiles", "12"}));
    const SlideFile good(folder / "good.svs"), bad(folder / "bad.svs");
    const Json list = drawn.json()["bad_tiles"];
    REQUIRE(list.size() == 12);
    std::set<std::uint32_t> named;
    for (std::size_t i = 0; i < 12; ++i) {
      const auto column = static_cast<std::uint32_t>(list[i]["column"].whole()),
                 row = static_cast<std::uint32_t>(list[i]["row"].whole());
      const std::string how = list[i]["how"].text();
      CHECK(how == Words{"empty", "garbage", "cut", "changed"}[i % 4]);
      CHECK(list[i]["x"] == column * 256);
      CHECK(list[i]["y"] == row * 256);
      CHECK(text.out.find(fmt::format("bad: tile {}, {} at pixel {}, {}: {}\n", column, row, column * 256, row * 256,
                                      how)) != std::string::npos);
      const std::uint32_t number = row * good.levels()[0].columns() + column;
      CHECK(number / 4 == i);  // 48 tiles: one in each twelfth
      named.insert(number);
      const std::string before = good.stream(0, number), now = bad.stream(0, number);
      if (how == "empty") {
        CHECK(now.empty());
      } else if (how == "garbage") {
        CHECK(now.size() == before.size());
        CHECK(now.find('\xff') == std::string::npos);
      } else if (how == "cut") {
        CHECK(now == before.substr(0, before.size() / 2));
      } else {
        REQUIRE(now.size() == before.size());
        std::size_t different = 0, first = now.size(), last = 0;
        for (std::size_t b = 0; b < now.size(); ++b)
          if (now[b] != before[b]) {
            ++different;
            first = std::min(first, b);
            last = b;
          }
        CHECK(different == 400);
        CHECK(last - first < 430);
        CHECK(first > before.find("\xff\xda"));
        CHECK(std::ranges::count(now, '\xff') == std::ranges::count(before, '\xff'));
      }
    }
    CHECK(named.size() == 12);
    for (std::size_t level = 0; level < good.levels().size(); ++level)
      for (std::uint32_t number = 0; number < good.levels()[level].tiles; ++number)
        if (level != 0 || !named.contains(number)) CHECK(good.stream(level, number) == bad.stream(level, number));
  }
}

TEST_CASE("slides of hardly any pixels") {
  const TempFolder folder;
  for (const std::string size : {"1x1", "17x33", "40x1", "1x300"}) {
    draw_slide(folder / "a.svs", {"--size", size, "--tile", "32", "--force"});
    SlideFile slide(folder / "a.svs");
    REQUIRE(slide.levels().size() == 1);
    slide.picture(0);
    draw_slide(folder / "a.svs", {"--size", size, "--tile", "32", "--repeat", "--force"});
    SlideFile(folder / "a.svs").picture(0);
  }
  draw_slide(folder / "b.svs", {"--size", "35x33", "--tile", "32", "--levels", "6"});
  SlideFile slide(folder / "b.svs");
  CHECK(slide.levels().back().width == 1);
  for (std::size_t level = 0; level < 6; ++level) slide.picture(level);
}
