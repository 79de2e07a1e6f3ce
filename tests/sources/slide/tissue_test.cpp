// SPDX-License-Identifier: Apache-2.0
// Records where there is tissue, against the definition in plain words.
#include <penstock/sources/slide.hpp>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include <penstock/penstock.hpp>

#include "sources/slide/jpeg2000_files.hpp"
#include "sources/slide/slide_files.hpp"
#include "sources/slide/slide_images.hpp"
#include "sources/source_checks.hpp"
#include "sources/temp_folder.hpp"
#include "support/catch.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace penstock;
using namespace penstock_test;

namespace {

// White glass with some blobs of stain, and specks.
Image stained(const penstock::ImageShape& shape, std::uint64_t seed) {
  Image image(shape);
  Numbers numbers(seed);
  struct Blob {
    int x, y, radius, kind;
  };
  std::vector<Blob> blobs;
  for (int i = 0; i < 9; ++i)
    blobs.push_back({numbers.below(shape.width), numbers.below(shape.height),
                     i < 5 ? numbers.from(20, std::max(21, shape.width / 4)) : numbers.from(1, 8), i % 4});
  for (std::int32_t y = 0; y < shape.height; ++y)
    for (std::int32_t x = 0; x < shape.width; ++x) {
      int rgb[3] = {240 + numbers.below(12), 238 + numbers.below(12), 241 + numbers.below(12)};
      for (const Blob& blob : blobs) {
        const int dx = x - blob.x, dy = y - blob.y;
        const int distance = dx * dx + dy * dy;
        if (distance > blob.radius * blob.radius) continue;
        // The last kind is glass again: a hole.
        if (blob.kind == 3) {
          rgb[0] = rgb[1] = rgb[2] = 245;
        } else {
          rgb[0] = 190 + numbers.below(30);
          rgb[1] = 90 + 20 * blob.kind + numbers.below(30);
          rgb[2] = 150 + numbers.below(30);
        }
      }
      for (std::int32_t c = 0; c < 3; ++c) image.at(y, x, c) = static_cast<std::uint8_t>(rgb[c]);
    }
  return image;
}

SlideForm tissue_slide(std::int32_t width, std::int32_t height, std::uint64_t seed) {
  SlideForm form = micron_slide(width, height);
  form.draw = [seed](const penstock::ImageShape& shape) { return stained(shape, seed); };
  return form;
}

// A mask by the words of SlideTissue, each of them taken literally.
struct PlainMask {
  int width = 0, height = 0;
  std::vector<int> tissue;
  int at(int x, int y) const { return tissue[static_cast<std::size_t>(y * width + x)]; }
};

PlainMask grown(const PlainMask& mask, int reach, int wanted) {
  PlainMask out = mask;
  for (int y = 0; y < mask.height; ++y)
    for (int x = 0; x < mask.width; ++x) {
      bool near = false;
      for (int v = std::max(0, y - reach); v <= std::min(mask.height - 1, y + reach); ++v)
        for (int u = std::max(0, x - reach); u <= std::min(mask.width - 1, x + reach); ++u)
          near = near || mask.at(u, v) == wanted;
      out.tissue[static_cast<std::size_t>(y * mask.width + x)] = near ? wanted : 1 - wanted;
    }
  return out;
}

PlainMask without_small(const PlainMask& mask, int value, double least) {
  PlainMask out = mask;
  std::vector<bool> seen(mask.tissue.size());
  for (std::size_t start = 0; start < seen.size(); ++start) {
    if (seen[start] || mask.tissue[start] != value) continue;
    std::vector<std::size_t> piece{start};
    seen[start] = true;
    for (std::size_t i = 0; i < piece.size(); ++i) {
      const int x = static_cast<int>(piece[i]) % mask.width, y = static_cast<int>(piece[i]) / mask.width;
      for (const auto& [u, v] : {std::pair(x - 1, y), {x + 1, y}, {x, y - 1}, {x, y + 1}}) {
        if (u < 0 || v < 0 || u >= mask.width || v >= mask.height) continue;
        const auto at = static_cast<std::size_t>(v * mask.width + u);
        if (seen[at] || mask.tissue[at] != value) continue;
        seen[at] = true;
        piece.push_back(at);
      }
    }
    if (static_cast<double>(piece.size()) < least)
      for (const std::size_t at : piece) out.tissue[at] = 1 - value;
  }
  return out;
}

int plain_otsu(const std::vector<int>& values) {
  double best = -1;
  int threshold = 0;
  for (int t = 0; t < 255; ++t) {
    double n0 = 0, n1 = 0, s0 = 0, s1 = 0;
    for (const int value : values) {
      (value <= t ? n0 : n1) += 1;
      (value <= t ? s0 : s1) += value;
    }
    if (n0 == 0 || n1 == 0) continue;
    const double variance = n0 * n1 * (s0 / n0 - s1 / n1) * (s0 / n0 - s1 / n1);
    if (variance > best) {
      best = variance;
      threshold = t;
    }
  }
  return threshold;
}

PlainMask plain_mask(const Image& level, int k, double mpp, const SlideTissue& tissue) {
  PlainMask mask{(level.shape.width + k - 1) / k, (level.shape.height + k - 1) / k, {}};
  for (int y = 0; y < mask.height; ++y)
    for (int x = 0; x < mask.width; ++x) {
      int mean[3];
      for (int c = 0; c < 3; ++c) {
        int sum = 0, count = 0;
        for (int v = y * k; v < std::min((y + 1) * k, level.shape.height); ++v)
          for (int u = x * k; u < std::min((x + 1) * k, level.shape.width); ++u, ++count) sum += level.at(v, u, c);
        mean[c] = static_cast<int>(std::floor(static_cast<double>(sum) / count + 0.5));
      }
      const int most = std::max({mean[0], mean[1], mean[2]}), least = std::min({mean[0], mean[1], mean[2]});
      mask.tissue.push_back(
          tissue.by == SlideTissue::By::grey
              ? static_cast<int>(std::floor((299 * mean[0] + 587 * mean[1] + 114 * mean[2]) / 1000. + .5))
          : most == 0 ? 0
                      : static_cast<int>(std::floor(255. * (most - least) / most + .5)));
    }
  const bool grey = tissue.by == SlideTissue::By::grey;
  int threshold = tissue.threshold != 0 ? tissue.threshold : plain_otsu(mask.tissue);
  if (tissue.threshold == 0) threshold = grey ? std::min(threshold, 245) : std::max(threshold, 8);
  for (int& value : mask.tissue) value = grey ? value <= threshold : value > threshold;
  const int closing = static_cast<int>(std::lround(tissue.closing / mpp));
  if (closing > 0) mask = grown(grown(mask, closing, 1), closing, 0);
  mask = without_small(mask, 1, tissue.least_area / (mpp * mpp));
  return without_small(mask, 0, tissue.least_area / (mpp * mpp));
}

// The places, by their pixels of the image, that have enough tissue. A pixel of the mask is `step` pixels of the image.
std::set<std::pair<int, int>> plain_places(const PlainMask& mask, double step, int width, int height, int size,
                                           int stride, double least) {
  std::set<std::pair<int, int>> places;
  for (int y = 0; y + size <= height; y += stride)
    for (int x = 0; x + size <= width; x += stride) {
      double all = 0, tissue = 0;
      for (int v = 0; v < mask.height; ++v)
        for (int u = 0; u < mask.width; ++u) {
          const double cx = (u + .5) * step, cy = (v + .5) * step;
          if (cx < x || cx >= x + size || cy < y || cy >= y + size) continue;
          all += 1;
          tissue += mask.at(u, v);
        }
      if (all == 0) {
        all = 1;
        tissue = mask.at(std::min(mask.width - 1, static_cast<int>((x + size / 2) / step)),
                         std::min(mask.height - 1, static_cast<int>((y + size / 2) / step)));
      }
      if (tissue > 0 && tissue >= least * all) places.insert({x, y});
    }
  return places;
}

std::set<std::pair<int, int>> places_of(const SlideSource& source) {
  std::set<std::pair<int, int>> places;
  for (std::uint64_t i = 0; i < source.size(); ++i) {
    const SlidePlace place = source.place(i);
    CHECK(places.insert({static_cast<int>(place.x), static_cast<int>(place.y)}).second);
    // Reading takes its time.
    if (i % 29 != 0) continue;
    const OwnedSample sample = read_sample(source, i);
    CHECK(number_of(sample, "x") == place.x);
    CHECK(number_of(sample, "y") == place.y);
  }
  return places;
}

}  // namespace

TEST_CASE("records are the places where the mask of the definition has tissue") {
  const TempFolder folder;
  const std::string path = folder / "a.tif";
  std::set<std::size_t> numbers;
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    // One micrometre a pixel.
    const SlideForm form = tissue_slide(500, 370, seed);
    const WrittenSlide slide = write_slide(path, seed == 0 ? lossless(form) : form);
    for (const SlideTissue& tissue :
         {SlideTissue{.by = SlideTissue::By::saturation, .mpp = 8, .closing = 0, .least_area = 0},
          {.by = SlideTissue::By::saturation, .least = 0.5, .mpp = 5, .closing = 12, .least_area = 900},
          {.by = SlideTissue::By::grey, .least = 0, .mpp = 3, .closing = 7, .least_area = 500},
          {.by = SlideTissue::By::grey, .least = 1, .mpp = 16, .threshold = 200, .closing = 16, .least_area = 2000},
          {.by = SlideTissue::By::saturation,
          .least = 0.25,
          .mpp = 7,
          .threshold = 60,
          .closing = 100,
          .least_area = 20'000}}) {
      const int k = static_cast<int>(tissue.mpp);
      const PlainMask mask = plain_mask(slide.pixels, k, k, tissue);
      for (const SlideOrder order : {SlideOrder::rows, SlideOrder::squares})
        for (const auto& [size, stride] : {std::pair(40, 40), {33, 20}, {2, 31}}) {
          CAPTURE(seed, tissue.mpp, size, stride, static_cast<int>(order));
          const SlideSource source({.files = path, .size = size, .stride = stride, .order = order, .tissue = tissue});
          REQUIRE_FALSE(source.slides().front().failure.has_value());
          const auto expected = plain_places(mask, k, 500, 370, size, stride, tissue.least);
          CHECK(places_of(source) == expected);
          CHECK(source.slides().front().records == source.size());
          CHECK(source.slides().front().places ==
                static_cast<std::uint64_t>(((500 - size) / stride + 1) * ((370 - size) / stride + 1)));
          numbers.insert(expected.size());
          const std::vector<std::uint64_t> ends = source.block_ends();
          CHECK(std::ranges::is_sorted(ends));
          CHECK((source.size() == 0 || ends.back() == source.size()));
          CHECK(std::ranges::adjacent_find(ends) == ends.end());
        }
    }
  }
  CHECK(numbers.size() > 20);
}

TEST_CASE("a mask is made of the coarsest level that is fine enough, and fits places of any size of pixels") {
  const TempFolder folder;
  const std::string path = folder / "a.tif";
  SlideForm form = tissue_slide(800, 600, 7);
  form.lower = {{200, 150}};
  const WrittenSlide slide = write_slide(path, form);
  // The level shows another picture than level 0, so it tells which was looked at.
  const SlideTissue tissue{.by = SlideTissue::By::saturation, .mpp = 8, .closing = 16, .least_area = 500};
  const PlainMask mask = plain_mask(slide.lower.front(), 2, 8, tissue);
  const auto expected = plain_places(mask, 8, 800, 600, 40, 40, tissue.least);
  CHECK(expected.size() > 10);
  CHECK(places_of(SlideSource({.files = path, .size = 40, .tissue = tissue})) == expected);
  // Half as many pixels of two micrometres show the same places.
  CHECK(places_of(SlideSource({.files = path, .mpp = 2, .size = 20, .tissue = tissue})) == expected);
  CHECK(places_of(SlideSource({.files = path, .level = 1, .size = 10, .tissue = tissue})) == expected);
  // Where nothing is said, a pixel is half a micrometre: 16 of level 0 are 4 of the level.
  form.per_unit = 0;
  write_slide(path, form);
  CHECK(places_of(SlideSource({.files = path, .size = 40, .tissue = tissue})) ==
        plain_places(plain_mask(slide.lower.front(), 4, 8, tissue), 16, 800, 600, 40, 40, tissue.least));
}

TEST_CASE("slides without tissue have no records, and it is said") {
  const TempFolder folder;
  SlideForm form = tissue_slide(300, 200, 1);
  write_slide(folder / "a.tif", form);
  form.draw = [](const penstock::ImageShape& shape) {
    Image image(shape);
    Numbers numbers(5);
    for (std::uint8_t& value : image.pixels) value = static_cast<std::uint8_t>(244 + numbers.below(8));
    return image;
  };
  write_slide(folder / "b.tif", form);
  for (const SlideTissue::By by : {SlideTissue::By::saturation, SlideTissue::By::grey}) {
    const Slides slides{.files = folder / "?.tif", .size = 32, .tissue = {.by = by, .mpp = 8, .least_area = 500}};
    const SlideSource source(slides);
    CHECK(source.slides()[0].records > 0);
    CHECK(source.slides()[1].records == 0);
    CHECK(source.slides()[1].places == 54);
    const std::string plan = from(slides).plan();
    CHECK(plan.find("show less tissue than `tissue.least`") != std::string::npos);
    CHECK(plan.find("1 slide without a record: all places show less tissue") != std::string::npos);
    CHECK(source.groups().size() == 1);
    CHECK(source.groups().front().end == source.size());
    // What they have is read as ever, through a loader too.
    Loader loader(from(slides) | shuffle({.seed = 1}) | batch(4), {.threads = 2, .epochs = 1});
    std::uint64_t rows = 0;
    while (const auto batch = loader.next()) rows += batch->size();
    CHECK(rows == source.size());
  }
}

TEST_CASE("what can't be read of the mask's level is told by a coarser one, or is glass, and is told of") {
  const TempFolder folder;
  const std::string path = folder / "a.tif";
  SlideForm form = tissue_slide(320, 240, 1);
  // Red everywhere, but for the upper half, which is glass.
  form.draw = [](const penstock::ImageShape& shape) {
    Image image(shape);
    for (std::int32_t y = 0; y < shape.height; ++y)
      for (std::int32_t x = 0; x < shape.width; ++x)
        for (std::int32_t c = 0; c < 3; ++c) image.at(y, x, c) = 2 * y < shape.height || c == 0 ? 250 : 60;
    return image;
  };
  const SlideTissue tissue{.by = SlideTissue::By::saturation, .mpp = 4, .threshold = 50, .closing = 0, .least_area = 0};
  const auto open = [&] { return SlideSource({.files = path, .size = 16, .tissue = tissue}); };
  const auto told = [](const SlideSource& source) {
    std::string lines;
    for (const std::string& line : source.left_out()) lines += line + "\n";
    return lines;
  };
  // Tiles of 64 x 48, 5 x 5 of them: the third of the first row, and the second of the last one.
  const auto damage = [](const WrittenSlide& slide) {
    slide.set_size(2, 0);
    slide.set_size(21, 0);
  };
  write_slide(path, form);
  const SlideSource whole = open();
  const auto all = places_of(whole);
  CHECK(all.size() == 20 * 7 + 20);  // its edge goes through a pixel of the mask
  CHECK(told(whole).find("can't be read") == std::string::npos);
  damage(write_slide(path, form));
  const SlideSource holes = open();
  CHECK(holes.size() == all.size() - 12);
  CHECK(told(holes).find("1 slide of which parts can't be read, that count as glass: " + path +
                         ": the tile at x 128, y 0 of level 0: it is empty") != std::string::npos);
  // A coarser level that is no use for masks says what is there.
  form.lower = {{64, 48}};
  damage(write_slide(path, form));
  const SlideSource filled = open();
  CHECK(filled.size() == all.size());
  for (std::uint64_t i = 0; i < filled.size(); ++i) CHECK(filled.key(i) == whole.key(i));
  CHECK(told(filled).find("count as glass") == std::string::npos);
}

TEST_CASE("tiles whose place in the file is damaged are glass, and take none of the others with them") {
  const TempFolder folder;
  const std::string path = folder / "a.tif";
  struct Damage {
    const char* name;
    std::uint64_t offset, bytes;
  };
  SlideForm form = tissue_slide(320, 240, 1);  // of 5 x 5 tiles
  form.draw = [](const penstock::ImageShape& shape) {
    Image image(shape);
    for (std::size_t i = 0; i < image.pixels.size(); ++i) image.pixels[i] = i % 3 == 0 ? 250 : 60;
    return image;
  };
  const SlideTissue tissue{.by = SlideTissue::By::saturation, .mpp = 4, .threshold = 50, .closing = 0, .least_area = 0};
  for (const Damage& damage :
       {Damage{"no bytes", 8, 0}, {"more bytes than a file has", 8, 0x7fffffff}, {"beyond the end", 0xfffffff0, 100}})
    for (const std::uint64_t tiles : {1u, 17u, 24u}) {
      CAPTURE(damage.name, tiles);
      const WrittenSlide slide = write_slide(path, form);
      for (std::uint64_t i = 0; i < tiles; ++i) {
        slide.set_offset(i, damage.offset);
        slide.set_size(i, damage.bytes);
      }
      const SlideSource source({.files = path, .size = 16, .tissue = tissue});
      CHECK_FALSE(source.slides().front().failure.has_value());
      CHECK(source.size() == (25 - tiles) * 12);
      REQUIRE(source.left_out().size() == 2);
      CHECK(source.left_out()[1].find("that count as glass: " + path + ": the tile at x 0, y 0 of level 0") !=
            std::string::npos);
    }
}

TEST_CASE("tiles that lie at the same bytes are summed as if each had its own") {
  const TempFolder folder;
  const WrittenSlide slide = write_slide(folder / "a.tif", tissue_slide(500, 370, 2));
  constexpr std::int32_t wide = 64, high = 48, columns = 8, rows = 8;
  REQUIRE(slide.offsets.size() == columns * rows);
  Image shown(slide.pixels.shape);
  for (std::int32_t i = 0; i < columns * rows; ++i) {
    const std::int32_t from = i * 5 % 6 * (columns + 1);  // on the diagonal: whole tiles
    slide.set_offset(static_cast<std::uint64_t>(i), slide.offsets[static_cast<std::size_t>(from)]);
    slide.set_size(static_cast<std::uint64_t>(i), slide.sizes[static_cast<std::size_t>(from)]);
    const std::int32_t left = i % columns * wide, top = i / columns * high;
    for (std::int32_t y = top; y < std::min(top + high, shown.shape.height); ++y)
      for (std::int32_t x = left; x < std::min(left + wide, shown.shape.width); ++x)
        for (std::int32_t c = 0; c < 3; ++c)
          shown.at(y, x, c) = slide.pixels.at(y - top + from / columns * high, x - left + from % columns * wide, c);
  }
  for (const int k : {1, 2, 5, 7, 8, 16, 100}) {
    CAPTURE(k);
    const SlideTissue tissue{.by = SlideTissue::By::saturation,
                             .mpp = static_cast<double>(k),
                             .threshold = 50,
                             .closing = 0,
                             .least_area = 0};
    CHECK(places_of(SlideSource({.files = folder / "a.tif", .size = 20, .tissue = tissue})) ==
          plain_places(plain_mask(shown, k, k, tissue), k, 500, 370, 20, 20, tissue.least));
  }
}

TEST_CASE("a slide of whose mask no pixel can be read is an error") {
  const TempFolder folder;
  const std::string path = folder / "a.tif";
  const WrittenSlide slide = write_slide(path, tissue_slide(320, 240, 1));
  for (std::uint64_t i = 0; i < slide.sizes.size(); ++i) slide.set_size(i, 0);
  const SlideSource source({.files = path, .size = 16, .tissue = {.by = SlideTissue::By::grey}});
  REQUIRE(source.slides().front().failure.has_value());
  CHECK(mentions(*source.slides().front().failure,
                 "no pixel of level 0 can be read, nor of coarser ones, to make its mask of tissue: the tile at x 0"));
}

TEST_CASE("rules of tissue are part of the identity, and those that can't work are refused") {
  const TempFolder folder;
  const std::string path = folder / "a.tif";
  write_slide(path, tissue_slide(300, 200, 1));
  const auto identity = [&](const SlideTissue& tissue) {
    return SlideSource({.files = path, .size = 32, .tissue = tissue}).identity();
  };
  const SlideTissue saturation{.by = SlideTissue::By::saturation};
  CHECK(identity({}) == identity({.least = 0.7}));
  CHECK(identity({}) != identity(saturation));
  CHECK(identity(saturation) != identity({.by = SlideTissue::By::grey}));
  CHECK(identity(saturation) != identity({.by = SlideTissue::By::saturation, .least = 0.2}));
  // Other pixels show tissue where a pixel is said to be larger.
  SlideForm form = tissue_slide(300, 200, 1);
  form.per_unit = 0;
  write_slide(folder / "b.tif", form);
  const auto assumed = [&](double mpp) {
    return SlideSource({.files = folder / "b.tif",
                        .size = 16,
                        .assumed_mpp = mpp,
                        .tissue = {.by = SlideTissue::By::saturation, .mpp = 4, .closing = 20, .least_area = 0}});
  };
  CHECK(places_of(assumed(0.5)) != places_of(assumed(2)));
  CHECK(assumed(0.5).identity() != assumed(2).identity());
  for (const SlideTissue& bad : {SlideTissue{.least = -0.1},
                                 {.least = 1.1},
                                 {.mpp = 0.5},
                                 {.mpp = 1000},
                                 {.threshold = 255},
                                 {.threshold = -1},
                                 {.closing = -1},
                                 {.least_area = -1},
                                 {.least = std::nan("")}})
    CHECK(code_of([&] { identity(bad); }) == Errc::invalid_argument);
}

}  // namespace PENSTOCK_TEST_FILE
