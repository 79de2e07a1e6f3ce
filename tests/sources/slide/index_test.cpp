// SPDX-License-Identifier: Apache-2.0
// A saved index: the same records without opening a slide.
#include <penstock/sources/slide_index.hpp>

#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include <penstock/penstock.hpp>

#include "sources/slide/jpeg2000_files.hpp"
#include "sources/slide/region_drawings.hpp"
#include "sources/slide/slide_files.hpp"
#include "sources/slide/slide_images.hpp"
#include "sources/source_checks.hpp"
#include "sources/temp_folder.hpp"
#include "support/catch.hpp"
#include "support/text_in.hpp"
#include "support/thrown.hpp"

using namespace penstock;
using namespace penstock_test;

namespace fs = std::filesystem;

namespace {

SlideForm stained(std::uint64_t seed) {
  SlideForm form{.width = 300, .height = 220, .seed = seed, .lower = {{150, 110}}, .per_unit = 10'000};
  form.draw = [seed](const penstock::ImageShape& shape) {
    Image image(shape);
    const std::int32_t column = shape.width * static_cast<std::int32_t>(2 + seed % 3) / 5;
    for (std::int32_t y = 0; y < shape.height; ++y)
      for (std::int32_t x = 0; x < shape.width; ++x)
        for (std::int32_t c = 0; c < 3; ++c)
          image.at(y, x, c) = static_cast<std::uint8_t>(x < column ? (c == 1 ? 90 : 190) + (x * y) % 9 : 245);
    return image;
  };
  return form;
}

void check_same(const Slides& slides, const std::string& index) {
  Slides indexed = slides;
  indexed.index = index;
  const SlideSource a(slides), b(indexed);
  REQUIRE(a.size() == b.size());
  CHECK(a.identity() == b.identity());
  CHECK(a.revision() == b.revision());
  CHECK(a.schema() == b.schema());
  CHECK(a.block_ends() == b.block_ends());
  CHECK(a.groups() == b.groups());
  CHECK(a.blocks() == b.blocks());
  CHECK(from(slides).fingerprint() == from(indexed).fingerprint());
  for (std::size_t i = 0; i < a.slides().size(); ++i) {
    const SlideInfo &x = a.slides()[i], &y = b.slides()[i];
    CHECK(x.path == y.path);
    CHECK(x.levels == y.levels);
    CHECK(x.places == y.places);
    CHECK(x.records == y.records);
    CHECK(x.mpp_x == y.mpp_x);
    CHECK(x.magnification == y.magnification);
    CHECK(x.whole_tiles == y.whole_tiles);
    CHECK(x.why_openslide == y.why_openslide);
    CHECK(x.openslide == y.openslide);
    CHECK(x.region_file == y.region_file);
    REQUIRE(x.failure.has_value() == y.failure.has_value());
    if (x.failure) CHECK(std::string(x.failure->what()) == y.failure->what());
  }
  CHECK(a.left_out() == b.left_out());
  for (std::uint64_t i = 0; i < a.size(); ++i) {
    CHECK(a.key(i) == b.key(i));
    try {
      const OwnedSample x = read_sample(a, i), y = read_sample(b, i);
      for (const Field& field : a.schema())
        CHECK(std::equal(x[field.name].data, x[field.name].data + x[field.name].bytes(), y[field.name].data,
                         y[field.name].data + y[field.name].bytes()));
    } catch (const Error& error) {
      CHECK(code_of([&] { (void)read_sample(b, i); }) == error.code());
    }
  }
}

}  // namespace

TEST_CASE("an index has the same records as slides that are opened, whatever chooses them") {
  const TempFolder folder;
  for (int i = 0; i < 4; ++i)
    write_slide(folder / (std::string(1, static_cast<char>('a' + i)) + ".tif"), stained(static_cast<std::uint64_t>(i)));
  write_slide(folder / "j.tif", lossless(stained(1)));
  folder.write("x.tif", "no slide");
  folder.write("labels.csv", "slide,kind,micron\na,1,0.5\nb,2,\nc,3,\nd,4,2\nj,5,\nx,6,\n");
  for (const char* name : {"a", "b", "c", "d", "j", "x"})
    folder.write(std::string("regions/") + name + ".json",
                 as_geojson({{"x", {{{{0, 0}, {200, 0}, {200, 220}, {0, 220}}}}},
                             {"y", {{{{100, 50}, {300, 50}, {300, 220}, {100, 220}}}}},
                             {"z", {{{{0, 150}, {300, 150}, {300, 220}, {0, 220}}}}}}));
  const SlideTissue tissue{.by = SlideTissue::By::saturation, .mpp = 4, .closing = 0, .least_area = 0};
  const SlideRegions regions{.folder = folder / "regions", .exclude = {"z"}, .least = 0.2, .field = "shows"};
  const std::string files = folder / "?.tif";
  int number = 0;
  for (const Slides& slides :
       {Slides{.files = files, .size = 32},
        Slides{.files = files, .size = 40, .overlap = 8, .edges = SlideEdges::pad, .order = SlideOrder::squares},
        Slides{.files = files, .level = 1, .size = 32, .labels = folder / "labels.csv", .edges = SlideEdges::shrink},
        Slides{.files = files,
        .mpp = 3,
        .size = 16,
        .labels = folder / "labels.csv",
        .mpp_column = "micron",
        .tissue = tissue},
        Slides{.files = files,
        .size = 20,
        .stride = 23,
        .order = SlideOrder::squares,
        .tissue = tissue,
        .regions = regions},
        Slides{.files = files, .size = 16, .regions = regions},
        Slides{.files = files,
        .size = 30,
        .coords = {{.slide = "a", .at = {{0, 0}, {7, 90}, {7, 90}, {290, 0}}},
                   {.slide = "c", .at = {{33, 44}}},
                   {.slide = "q", .at = {}}},
        .regions = regions}}) {
    CAPTURE(number);
    const std::string index = folder / (std::to_string(number++) + ".tiles");
    const WriteProgress progress = write_slide_index(slides, index, {.threads = 2});
    CHECK(progress.done == 6);
    CHECK_FALSE(fs::exists(index + ".partial"));
    check_same(slides, index);
    // A part of the cohort needs no other index.
    Slides some = slides;
    some.files = folder / "[bc].tif";
    if (some.coords.empty()) check_same(some, index);
    // Nor does the other order.
    Slides reordered = slides;
    reordered.order = slides.order == SlideOrder::rows ? SlideOrder::squares : SlideOrder::rows;
    check_same(reordered, index);
  }
}

TEST_CASE("no slide is opened before its first tile, and one that is another is an error of its records") {
  const TempFolder folder;
  for (const char* name : {"a.tif", "b.tif", "c.tif"})
    write_slide(folder / name, stained(static_cast<std::uint64_t>(*name)));
  const Slides made{.files = folder / "?.tif", .size = 32};
  write_slide_index(made, folder / "x.tiles");
  Slides slides = made;
  slides.index = folder / "x.tiles";
  // A copy is the same cohort, whatever its times and places are.
  const TempFolder copy;
  for (const char* name : {"a.tif", "b.tif", "c.tif"}) {
    fs::copy_file(folder / name, copy / name);
    fs::last_write_time(copy / name, fs::file_time_type::clock::now() - std::chrono::hours(1000));
  }
  Slides copied = slides;
  copied.files = copy / "?.tif";
  CHECK(SlideSource(copied).identity() == SlideSource(made).identity());
  CHECK(SlideSource(copied).revision() == SlideSource(made).revision());
  CHECK_FALSE(read_sample(SlideSource(copied), 0)["image"].bytes() == 0);

  // Files that nobody could read as slides don't matter before.
  const SlideSource before(copied);
  const std::uint64_t of_b = before.slides()[1].first, of_c = before.slides()[2].first;
  copy.write("b.tif", "no slide");
  std::string c = text_in(copy / "c.tif");
  c.back() = static_cast<char>(c.back() + 1);
  copy.write("c.tif", c);
  const SlideSource source(copied);
  (void)read_sample(source, 0);
  for (const std::uint64_t record : {of_b, of_c}) {
    const Error error = error_of([&] { (void)read_sample(source, record); });
    CHECK(error.code() == Errc::io);
    CHECK(mentions(error, "the file is another than the one that the index was made of"));
    CHECK(error.file() == copy / (record == of_b ? "b.tif" : "c.tif"));
  }
  // What was read once is watched as ever.
  const SlideSource watched(slides);
  (void)read_sample(watched, 0);
  fs::last_write_time(folder / "a.tif", fs::file_time_type::clock::now() - std::chrono::hours(1));
  CHECK(mentions(error_of([&] { (void)read_sample(watched, 0); }), "was changed or replaced"));
}

TEST_CASE("an index that was made of something else is refused, and says of what") {
  const TempFolder folder;
  write_slide(folder / "a.tif", stained(1));
  write_slide(folder / "b.tif", stained(2));
  folder.write("labels.csv", "slide,micron\na,0.5\nb,\n");
  const Slides made{.files = folder / "a.tif", .size = 32, .labels = folder / "labels.csv", .mpp_column = "micron"};
  const std::string index = folder / "x.tiles";
  write_slide_index(made, index);
  Slides slides = made;
  slides.index = index;
  CHECK(SlideSource(slides).size() > 0);
  const auto refusal = [&](const Slides& other, Errc code = Errc::invalid_argument) {
    const Error error = error_of([&] { (void)SlideSource(other); });
    CHECK(error.code() == code);
    return error;
  };
  Slides other = slides;
  other.size = 33;
  CHECK(mentions(refusal(other), "made with other settings: size 32, and size 33 is asked for; make the index anew"));
  other = slides;
  other.tissue.by = SlideTissue::By::grey;
  CHECK(mentions(refusal(other), "tissue everywhere, and tissue grey is asked for"));
  other = slides;
  other.files = folder / "?.tif";
  CHECK(mentions(refusal(other), "1 of 2 slides are not in it: b"));
  folder.write("labels.csv", "slide,micron\na,0.25\nb,\n");
  CHECK(mentions(refusal(slides), "slide a has other micrometres a pixel in the table now"));
  folder.write("labels.csv", "slide,micron\na,0.5\nb,\n");
  other = slides;
  other.coords = {{.slide = "a", .at = {{0, 0}}}};
  CHECK(mentions(refusal(other), "coords no, and coords yes is asked for"));
  // Lists are a part of what it was made of.
  const std::string of_lists = folder / "lists.tiles";
  write_slide_index(other, of_lists);
  other.index = of_lists;
  CHECK(SlideSource(other).size() == 1);
  other.coords.front().at.push_back({32, 0});
  CHECK(mentions(refusal(other), "slide a has another list of places now"));
  // In their order, though records are the same in any.
  Slides listed = other;
  listed.index.clear();
  write_slide_index(listed, of_lists);
  CHECK(SlideSource(other).size() == 2);
  std::ranges::reverse(other.coords.front().at);
  std::ranges::reverse(listed.coords.front().at);
  CHECK(mentions(refusal(other), "slide a has another list of places now"));
  std::ranges::reverse(other.coords.front().at);
  CHECK(SlideSource(listed).identity() == SlideSource(other).identity());
  other.coords.clear();
  CHECK(mentions(refusal(other), "coords yes, and coords no is asked for"));
  // So are regions.
  other = made;
  other.regions = {.folder = folder / "drawn", .include = {"x"}};
  const auto drawn = [](int right) { return as_geojson({{"x", {{{{0, 0}, {right, 0}, {right, 64}, {0, 64}}}}}}); };
  folder.write("drawn/a.geojson", drawn(64));
  const std::string of_regions = folder / "regions.tiles";
  write_slide_index(other, of_regions);
  other.index = of_regions;
  CHECK(SlideSource(other).size() > 0);
  folder.write("drawn/a.geojson", drawn(96));
  CHECK(mentions(refusal(other), "slide a has other regions now, in " + (folder / "drawn/a.geojson")));
  fs::remove(folder / "drawn/a.geojson");
  CHECK_THROWS_AS(SlideSource(other), Error);
  other = slides;
  other.index = folder / "none.tiles";
  CHECK(mentions(refusal(other, Errc::not_found), "there is no such index; make it by"));

  // Damage anywhere is noticed.
  const std::string whole = text_in(index);
  Numbers numbers(4);
  for (int i = 0; i < 400; ++i) {
    std::string bad = whole;
    if (i % 4 == 0)
      bad.resize(static_cast<std::size_t>(numbers.below(static_cast<std::int32_t>(whole.size()))));
    else
      bad[static_cast<std::size_t>(numbers.below(static_cast<std::int32_t>(whole.size())))] ^=
          static_cast<char>(1 << numbers.below(8));
    folder.write("x.tiles", bad);
    const Error error = error_of([&] { (void)SlideSource(slides); });
    CHECK((error.code() == Errc::corrupt || error.code() == Errc::unsupported));
    CHECK(error.file() == index);
  }
}

TEST_CASE("an index has nothing of the colour of padding, or of rules for slides without a line or regions") {
  const TempFolder folder;
  write_slide(folder / "a.tif", stained(1));
  folder.write("labels.csv", "slide,kind\na,1\n");
  folder.write("regions/a.json", as_geojson({{"x", {{{{0, 0}, {200, 0}, {200, 220}, {0, 220}}}}}}));
  const Slides made{.files = folder / "a.tif",
                    .size = 100,
                    .labels = folder / "labels.csv",
                    .edges = SlideEdges::pad,
                    .regions = {.folder = folder / "regions", .field = "shows"}};
  const std::string index = folder / "x.tiles";
  write_slide_index(made, index);
  Slides other = made;
  other.unlisted = Slides::Unlisted::leave_out;
  other.pad_color = {1, 2, 3};
  other.regions.missing = SlideRegions::Missing::empty;
  check_same(other, index);
  other.index = index;
  const SlideSource source(other);
  REQUIRE(source.size() == 9);
  const OwnedSample last = read_sample(source, 8), before = read_sample(SlideSource(made), 8);
  for (std::int32_t c = 0; c < 3; ++c) {
    CHECK(image_of(last["image"]).at(99, 99, c) == 1 + c);
    CHECK(image_of(before["image"]).at(99, 99, c) == 255);
  }
}

TEST_CASE("an index is brought up to date, and a run that was stopped goes on") {
  const TempFolder folder;
  for (char name = 'a'; name < 'i'; ++name)
    write_slide(folder / (std::string(1, name) + ".tif"), stained(static_cast<std::uint64_t>(name)));
  // The first one is larger than what is looked at of it.
  write_slide(folder / "a.tif", {.width = 900, .height = 700, .lower = {{450, 350}}, .per_unit = 10'000});
  const Slides slides{.files = folder / "?.tif", .size = 32, .tissue = {.by = SlideTissue::By::saturation, .mpp = 4}};
  const std::string index = folder / "x.tiles";
  // Stopped after some: what there is stays, and is not made again.
  std::stop_source stop;
  WriteProgress first = write_slide_index(slides, index,
                                          {.threads = 1,
                                           .max_in_flight = 1,
                                           .commit_every = 1,
                                           .progress =
                                               [&](const WriteProgress& now) {
                                                 if (now.done == 3) stop.request_stop();
                                               },
                                           .stop = stop.get_token()});
  CHECK(first.done < 8);
  CHECK(fs::exists(index + ".partial"));
  CHECK_FALSE(fs::exists(index));
  const WriteProgress second = write_slide_index(slides, index, {.threads = 1});
  CHECK(second.skipped == first.done);
  CHECK(second.done == 8);
  check_same(slides, index);

  // One slide is new, one is another, one is gone.
  write_slide(folder / "b.tif", stained(77));
  write_slide(folder / "i.tif", stained(78));
  fs::remove(folder / "c.tif");
  Slides indexed = slides;
  indexed.index = index;
  CHECK_THROWS_AS(SlideSource(indexed), Error);
  write_slide_index(slides, index);
  check_same(slides, index);
  // Nothing is made of a slide that is the same: this one could not be read now, but has the bytes that are looked at.
  const std::string a = text_in(folder / "a.tif");
  std::string unreadable = a;
  constexpr std::size_t looked_at = 4096;
  REQUIRE(a.size() > 4 * looked_at);
  for (std::size_t i = looked_at; i < a.size() - looked_at; ++i)
    if (i < a.size() / 2 || i >= a.size() / 2 + looked_at) unreadable[i] = 0;
  folder.write("a.tif", unreadable);
  const std::string before = text_in(index);
  write_slide_index(slides, index);
  CHECK((text_in(index) == before));
  // Another setting makes all anew.
  Slides other = slides;
  other.size = 16;
  write_slide_index(other, index);
  CHECK((text_in(index) != before));

  // A slide that could not be read is tried again.
  folder.write("a.tif", "no slide");
  write_slide_index(slides, index);
  CHECK(SlideSource(indexed).slides().front().failure.has_value());
  folder.write("a.tif", a);
  write_slide_index(slides, index);
  check_same(slides, index);
}
