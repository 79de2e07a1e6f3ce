// SPDX-License-Identifier: Apache-2.0
// Where a slide's stains go: into its records and an index, and to the stage that makes slides alike.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <set>
#include <string>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include <penstock/penstock.hpp>
#include <penstock/sources/slide.hpp>
#include <penstock/sources/slide_index.hpp>
#include <penstock/sources/slide_stain.hpp>
#include <penstock/transforms/image.hpp>

#include "sources/slide/region_drawings.hpp"
#include "sources/slide/slide_files.hpp"
#include "sources/slide/slide_images.hpp"
#include "sources/slide/stained_slides.hpp"
#include "sources/source_checks.hpp"
#include "sources/temp_folder.hpp"
#include "support/catch.hpp"
#include "support/text_in.hpp"
#include "support/thrown.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace penstock;
using namespace penstock_test;

namespace {}  // namespace

TEST_CASE("fits are a field of the records, among the others") {
  const TempFolder folder;
  for (const char* name : {"a", "b"}) {
    write_slide(folder / (std::string(name) + ".tif"), stained_slide(400, 300, static_cast<std::uint64_t>(*name)));
    folder.write("regions/" + std::string(name) + ".json",
                 as_geojson({{"x", {{{{0, 0}, {400, 0}, {400, 300}, {0, 300}}}}}}));
  }
  folder.write("labels.csv", "slide,kind\na,1\nb,2\n");
  Slides slides{.files = folder / "?.tif",
                .size = 64,
                .labels = folder / "labels.csv",
                .regions = {.folder = folder / "regions", .field = "shows"},
                .stain = {.method = reinhard, .field = "look"}};
  const SlideSource source(slides);
  CHECK(source.schema().to_string() ==
        "{image: u8[64, 64, 3], slide: i64[], x: i64[], y: i64[], look: f32[6], shows: i64[], kind: i64[]}");
  for (std::uint64_t i = 0; i < source.size(); i += 5) {
    const OwnedSample sample = read_sample(source, i);
    const auto number = static_cast<std::size_t>(number_of(sample, "slide"));
    CHECK(StainFit::of(sample["look"].as<const float, 1>().flat()) == *source.slides()[number].stain);
    CHECK(number_of(sample, "shows") == 1);
    CHECK(number_of(sample, "kind") == static_cast<std::int64_t>(number) + 1);
  }
  CHECK_FALSE(source.slides()[0].stain == source.slides()[1].stain);
  CHECK_FALSE(source.labels("look").has_value());
  CHECK(source.labels("shows").has_value());
  CHECK(source.labels("kind")->back() == 2);
  CHECK(code_of([&] { (void)source.only("look", {1}); }) == Errc::invalid_argument);
  const SlideSource view = source.only("kind", {2});
  CHECK(StainFit::of(read_sample(view, 0)["look"].as<const float, 1>().flat()) == *source.slides()[1].stain);
  CHECK(from(slides).plan().find("2 slides with a fit of stains, Reinhard's, of 256 squares of tissue at most: field "
                                 "\"look\"") != std::string::npos);

  const auto refused = [&](const SlideStain& stain) {
    Slides other = slides;
    other.stain = stain;
    return error_of([&] { (void)SlideSource(other); });
  };
  CHECK(mentions(refused({.method = macenko, .patches = 0}), "`stain.patches` is 0; 1 to 4096 are possible"));
  CHECK(mentions(refused({.method = macenko, .patches = 4097}), "1 to 4096"));
  CHECK(mentions(refused({.method = macenko, .field = ""}), "`stain.field` is empty"));
  CHECK(mentions(refused({.method = macenko, .field = "x"}), "\"x\", a field that is there already"));
  CHECK(mentions(refused({.method = macenko, .field = "kind"}), "\"kind\" has the name of a field"));
  CHECK(mentions(refused({.method = macenko, .field = "shows"}), "\"shows\", a field that is there already"));
  CHECK(refused({.method = static_cast<StainMethod>(7)}).code() == Errc::invalid_argument);
  // What is measured is part of what the records are.
  const auto identity = [&](const SlideStain& stain) {
    Slides other = slides;
    other.stain = stain;
    return SlideSource(other).identity();
  };
  CHECK(identity({}) == identity({.patches = 7}));
  CHECK(identity({}) != identity({.method = macenko}));
  CHECK(identity({.method = reinhard}) != identity({.method = macenko}));
  CHECK(identity({.method = macenko}) == identity({.method = macenko}));
  CHECK(identity({.method = macenko}) != identity({.method = macenko, .patches = 1}));
  CHECK(identity({.method = macenko}) != identity({.method = macenko, .field = "fit"}));
}

#if defined(__x86_64__)
TEST_CASE("fits of a slide are the same in any floating-point mode of the program") {
  const TempFolder folder;
  write_slide(folder / "a.tif", stained_slide(400, 300, 1));
  for (const StainMethod method : {macenko, reinhard}) {
    const Slides slides{.files = folder / "?.tif", .size = 64, .stain = {.method = method}};
    const StainFit wanted = *SlideSource(slides).slides()[0].stain;
    const unsigned before = _mm_getcsr();
    _mm_setcsr(before | 0x4000u);  // rounds up
    const StainFit got = *SlideSource(slides).slides()[0].stain;
    const unsigned after = _mm_getcsr();
    _mm_setcsr(before);
    CHECK((after & 0x6000u) == 0x4000u);
    CHECK(got == wanted);
  }
}
#endif

TEST_CASE("a slide whose stains can't be told is an error of its own") {
  const TempFolder folder;
  write_slide(folder / "a.tif", stained_slide(400, 300, 1));
  SlideForm glass = stained_slide(400, 300, 2), one_colour = glass;
  glass.draw = [](const penstock::ImageShape& shape) {
    Image image(shape);
    Numbers numbers(5);
    for (std::uint8_t& value : image.pixels) value = static_cast<std::uint8_t>(244 + numbers.below(8));
    return image;
  };
  one_colour.draw = [](const penstock::ImageShape& shape) {
    Image image(shape);
    for (std::int32_t y = 0; y < shape.height; ++y)
      for (std::int32_t x = 0; x < shape.width; ++x)
        for (std::int32_t c = 0; c < 3; ++c)
          image.at(y, x, c) = static_cast<std::uint8_t>(x >= 208 ? 245 : c == 0 ? 190 : c == 1 ? 90 : 150);
    return image;
  };
  write_slide(folder / "b.tif", glass);
  write_slide(folder / "c.tif", one_colour);
  Slides slides{.files = folder / "?.tif", .size = 64, .stain = {.method = macenko}};
  for (const StainMethod method : {macenko, reinhard}) {
    slides.stain.method = method;
    const SlideSource source(slides);
    CHECK(source.slides()[0].stain.has_value());
    for (const std::size_t bad : {1u, 2u}) {
      CAPTURE(bad);
      const SlideInfo& slide = source.slides()[bad];
      REQUIRE(slide.failure.has_value());
      CHECK_FALSE(slide.stain.has_value());
      CHECK(slide.records == 1);
      CHECK(slide.failure->code() == Errc::unsupported);
      CHECK(slide.failure->file() == slide.path);
      CHECK(mentions(*slide.failure, "its stains can't be told"));
      CHECK(mentions(*slide.failure, bad == 1             ? "0 pixels"
                                     : method == reinhard ? "about the same colour"
                                                          : "the colours of one stain"));
      CHECK(mentions(*slide.failure, "leave the slide out, or drop it by `on_error`"));
      CHECK(code_of([&] { (void)read_sample(source, slide.first); }) == Errc::unsupported);
    }
    CHECK(from(slides).plan().find("2 slides that can't be read") != std::string::npos);
    // The others are read on.
    Loader loader(from(slides) | on_error({.policy = OnError::drop}) | batch(4), {.threads = 2, .epochs = 1});
    std::uint64_t rows = 0;
    while (const auto batch = loader.next()) rows += batch->size();
    CHECK(rows == source.slides()[0].records);
  }
  // What has no record needs no fit.
  slides.files = folder / "b.tif";
  slides.tissue = {.by = SlideTissue::By::saturation};
  const SlideSource source(slides);
  CHECK(source.size() == 0);
  CHECK_FALSE(source.slides().front().failure.has_value());
  CHECK_FALSE(source.slides().front().stain.has_value());
}

TEST_CASE("an index has the fits, and one without them is made anew") {
  const TempFolder folder;
  for (const char* name : {"a", "b", "c"})
    write_slide(folder / (std::string(name) + ".tif"), stained_slide(400, 300, static_cast<std::uint64_t>(*name)));
  SlideForm glass = stained_slide(400, 300, 2);
  glass.draw = [](const penstock::ImageShape& shape) {
    Image image(shape);
    std::ranges::fill(image.pixels, std::uint8_t{250});
    return image;
  };
  write_slide(folder / "d.tif", glass);
  const std::string index = folder / "x.tiles";
  for (const StainMethod method : {macenko, reinhard}) {
    const Slides slides{.files = folder / "?.tif", .size = 64, .stain = {.method = method}};
    Slides indexed = slides;
    indexed.index = index;
    const SlideSource opened(slides);
    std::set<std::string> made;
    for (const unsigned threads : {1u, 2u, 5u}) {
      std::filesystem::remove(index);
      write_slide_index(slides, index, {.threads = threads});
      made.insert(text_in(index));
      const SlideSource source(indexed);
      CHECK(source.identity() == opened.identity());
      CHECK(source.schema() == opened.schema());
      REQUIRE(source.size() == opened.size());
      for (std::size_t i = 0; i < 4; ++i) {
        CHECK(source.slides()[i].stain == opened.slides()[i].stain);
        CHECK(source.slides()[i].stain.has_value() == (i < 3));
        CHECK(source.slides()[i].failure.has_value() == (i == 3));
      }
      const OwnedSample x = read_sample(source, 5), y = read_sample(opened, 5);
      CHECK(std::memcmp(x["stain"].data, y["stain"].data, x["stain"].bytes()) == 0);
    }
    CHECK(made.size() == 1);
    const auto refusal = [&](const SlideStain& stain) {
      Slides other = indexed;
      other.stain = stain;
      return error_of([&] { (void)SlideSource(other); });
    };
    CHECK(mentions(refusal({}), ", and stain no is asked for"));
    CHECK(mentions(refusal({.method = method == macenko ? reinhard : macenko}), ", and stain "));
    CHECK(
        mentions(refusal({.method = method, .patches = 100}), "stain.patches 256, and stain.patches 100 is asked for"));
    // The field may be called otherwise.
    Slides renamed = indexed;
    renamed.stain.field = "look";
    CHECK(SlideSource(renamed).schema().find("look").has_value());
  }
  // One that has no fits is made anew by the same call, and so is one of another version.
  const Slides without{.files = folder / "?.tif", .size = 64};
  Slides with = without, indexed = without;
  with.stain.method = macenko;
  indexed = with;
  indexed.index = index;
  write_slide_index(without, index);
  CHECK(mentions(error_of([&] { (void)SlideSource(indexed); }), "stain no, and stain macenko is asked for"));
  write_slide_index(with, index);
  CHECK(SlideSource(indexed).slides().front().stain.has_value());
  const std::string whole = text_in(index);
  std::string earlier = whole;
  earlier[std::string("penstock tiles\n").size()] = 1;
  folder.write("x.tiles", earlier);
  const Error error = error_of([&] { (void)SlideSource(indexed); });
  CHECK(error.code() == Errc::unsupported);
  CHECK(mentions(error, "it is of version 1"));
  write_slide_index(with, index);
  CHECK((text_in(index) == whole));
  // What is the same stays: this slide could not be opened now, but has the bytes that are looked at.
  const std::string a = text_in(folder / "a.tif");
  std::string unreadable = a;
  constexpr std::size_t looked_at = 4096;
  REQUIRE(a.size() > 4 * looked_at);
  for (std::size_t i = looked_at; i < a.size() - looked_at; ++i)
    if (i < a.size() / 2 || i >= a.size() / 2 + looked_at) unreadable[i] = 0;
  folder.write("a.tif", unreadable);
  write_slide_index(with, index);
  CHECK((text_in(index) == whole));
}

TEST_CASE("slides that were stained differently become alike") {
  const TempFolder folder;
  write_slide(folder / "a.tif", stained_slide(500, 400, 6, {1.2, 1.3}));
  write_slide(folder / "b.tif", stained_slide(500, 400, 6, {0.8, 0.75}));
  const Slides slides{.files = folder / "?.tif",
                      .size = 40,
                      .tissue = {.by = SlideTissue::By::saturation, .least = 0.9, .mpp = 8},
                      .stain = {.method = macenko}};
  const SlideSource source(slides);
  REQUIRE(source.slides()[0].records > 5);
  const auto difference = [&](const Pipeline& pipeline) {
    double sum = 0;
    std::uint64_t count = 0, values = 0;
    for (std::uint64_t i = 0; i < source.slides()[0].records; ++i)
      for (std::uint64_t k = source.slides()[1].first; k < source.size(); ++k) {
        if (source.place(i).x != source.place(k).x || source.place(i).y != source.place(k).y) continue;
        const OwnedSample a = pipeline.at(i), b = pipeline.at(k);
        for (std::size_t at = 0; at < a["image"].bytes(); ++at, ++values)
          sum += std::abs(std::to_integer<int>(a["image"].data[at]) - std::to_integer<int>(b["image"].data[at]));
        ++count;
      }
    CHECK(count > 5);
    return sum / static_cast<double>(values);
  };
  const Pipeline plain = from(source), same = plain | normalize_stain("image");
  CHECK(difference(plain) > 25);
  CHECK(difference(same) < 3);
  // Through a loader, at any number of threads, after a crop.
  const Pipeline cropped =
      from(source) | shuffle({.seed = 2}) | random_crop("image", {32, 33}) | normalize_stain("image") | batch(4);
  Loader one(cropped, {.threads = 1, .epochs = 1}), three(cropped, {.threads = 3, .epochs = 1});
  while (const auto batch = one.next()) {
    const auto other = three.next();
    REQUIRE(std::memcmp((*batch)["image"].data, (*other)["image"].data, (*batch)["image"].bytes()) == 0);
  }
}

}  // namespace PENSTOCK_TEST_FILE
