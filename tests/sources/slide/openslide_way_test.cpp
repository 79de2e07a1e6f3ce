// SPDX-License-Identifier: Apache-2.0
// Slides that are read through OpenSlide.
#include <penstock/sources/slide.hpp>

#include <atomic>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include <penstock/penstock.hpp>
#include <penstock/transforms/encode_jpeg.hpp>
#include <penstock/transforms/image.hpp>

#include "sources/slide/slide_files.hpp"
#include "sources/slide/slide_images.hpp"
#include "sources/source_checks.hpp"
#include "sources/temp_folder.hpp"
#include "support/catch.hpp"

using namespace penstock;
using namespace penstock_test;

namespace {

SlideForm plain_pixels() { return openslide_form({.width = 500, .height = 300}); }

}  // namespace

TEST_CASE("a slide whose tiles we do not decode is read through OpenSlide, and says why") {
  const TempFolder folder;
  const std::string path = folder / "a.tif";
  const WrittenSlide slide = write_slide(path, plain_pixels());
  const SlideSource source({.files = path, .size = 100});
  const SlideInfo& info = source.slides().front();
  REQUIRE_FALSE(info.failure.has_value());
  CHECK(info.why_openslide == why_openslide_form);
  CHECK(info.levels == std::vector<SlideLevel>{{500, 300, 64, 64}});
  CHECK_FALSE(info.whole_tiles);
  CHECK(source.blocks() == 0);
  const std::string plan = from(source).plan();
  CHECK(plan.find("1 slide read through OpenSlide") != std::string::npos);
  CHECK(plan.find(why_openslide_form) != std::string::npos);
  for (const SlideEdges edges : {SlideEdges::drop, SlideEdges::pad, SlideEdges::shrink})
    for (const auto& [size, stride] : {std::pair(64, 64), {100, 70}, {33, 51}, {600, 600}})
      for_each_record({.files = path, .size = size, .stride = stride, .edges = edges, .pad_color = {1, 2, 3}},
                      [&](const Image& image, std::int64_t x, std::int64_t y) {
                        CAPTURE(size, x, y);
                        REQUIRE(image == box_of(slide.pixels, x, y, image.shape.width, image.shape.height, {1, 2, 3}));
                      });
}

TEST_CASE("slides through OpenSlide go the way of others: crops, encoders, threads, verified") {
  const TempFolder folder;
  const std::string path = folder / "a.tif";
  const WrittenSlide slide = write_slide(path, plain_pixels());
  const Pipeline records = from(Slides{.files = path, .size = 100, .stride = 40}) | shuffle({.seed = 2});
  for (const bool verify : {false, true}) {
    Loader loader((verify ? records | check({.verify = true}) : records) | center_crop("image", {60, 50}) | batch(5),
                  {.threads = 4, .epochs = 1});
    std::uint64_t rows = 0;
    while (const auto batch = loader.next())
      for (std::size_t row = 0; row < batch->size(); ++row, ++rows) {
        const Image expected = box_of(slide.pixels, (*batch)["x"].as<std::int64_t, 1>().data()[row] + 25,
                                      (*batch)["y"].as<std::int64_t, 1>().data()[row] + 20, 50, 60);
        REQUIRE(std::memcmp(static_cast<const std::byte*>((*batch)["image"].data) + row * 9000, expected.pixels.data(),
                            9000) == 0);
      }
    CHECK(rows == records.size());
  }
  // There is no JPEG to be kept.
  CHECK((records | encode_jpeg("image", {.quality = 90, .keep_stored = true})).at(0)["image"].bytes() > 1000);
}

TEST_CASE("a tile that OpenSlide can't read is an error of its records, and the slide goes on") {
  const TempFolder folder;
  const std::string path = folder / "a.tif";
  SlideForm form = plain_pixels();
  form.lower = {{125, 75}};  // OpenSlide reads the last level when it opens a file
  const WrittenSlide slide = write_slide(path, form);
  slide.set_offset(9, std::uint64_t{1} << 30);  // the second of the second row
  const SlideSource source({.files = path, .size = 64});
  for (int round = 0; round < 2; ++round)
    for (std::uint64_t i = 0; i < source.size(); ++i) {
      CAPTURE(round, i);
      const bool bad = source.key(i) == "a/000064_000064";
      if (!bad) {
        REQUIRE_NOTHROW(read_sample(source, i));
        continue;
      }
      const Error error = error_of([&] { (void)read_sample(source, i); });
      CHECK(error.code() == Errc::corrupt);
      CHECK(error.file() == path);
      CHECK(mentions(error, "OpenSlide can't read 64x64 pixels at x 64, y 64 of level 0"));
    }
  Loader loader(from(source) | on_error({.policy = OnError::drop}) | batch(100), {.threads = 3, .epochs = 1});
  const auto batch = loader.next();
  REQUIRE(batch.has_value());
  CHECK(batch->size() + 1 == source.size());
}

TEST_CASE("more slides than may stay open, from many threads") {
  const TempFolder folder;
  std::vector<WrittenSlide> slides;
  Slides options{.size = 50, .max_open_files = 3, .max_openslide_bytes = 1};
  for (std::uint64_t i = 0; i < 7; ++i) {
    SlideForm form = plain_pixels();
    form.seed = i;
    slides.push_back(write_slide(folder / ("a" + std::to_string(i) + ".tif"), form));
    options.paths.push_back(slides.back().path);
  }
  const SlideSource source(options);
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      Numbers numbers(static_cast<std::uint64_t>(t));
      for (int i = 0; i < 100; ++i) {
        const auto index = static_cast<std::uint64_t>(numbers.below(static_cast<std::int32_t>(source.size())));
        const OwnedSample sample = read_sample(source, index);
        const Image& pixels = slides[static_cast<std::size_t>(number_of(sample, "slide"))].pixels;
        if (!(image_of(sample["image"]) == box_of(pixels, number_of(sample, "x"), number_of(sample, "y"), 50, 50)))
          ++wrong;
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
}

TEST_CASE("levels and sizes of pixels of slides through OpenSlide") {
  const TempFolder folder;
  const std::string path = folder / "a.tif";
  SlideForm form = plain_pixels();
  form.lower = {{125, 75}};
  const WrittenSlide slide = write_slide(path, form);
  const auto image = [&](Slides options) {
    options.files = path;
    options.size = 600;
    options.edges = SlideEdges::shrink;
    return image_of(read_sample(SlideSource(options), 0)["image"]);
  };
  CHECK(SlideSource({.files = path, .size = 16}).slides().front().levels.size() == 2);
  CHECK(image({.level = 1}) == slide.lower.front());
  ImageOp op(slide.pixels.shape);
  op.resize({150, 250});
  Image half({150, 250, 3});
  TestScratch scratch;
  image_executor().run(slide.pixels.view(), op, reinterpret_cast<std::byte*>(half.pixels.data()), scratch);
  CHECK(image({.mpp = 0.5, .assumed_mpp = 0.25}) == half);
  CHECK(image({.mpp = 1, .assumed_mpp = 0.25}) == slide.lower.front());
  // OpenSlide 3.4.1 looks at none of the tags that say how large a pixel is.
  form.per_unit = 40'000;
  write_slide(path, form);
  CHECK(SlideSource({.files = path, .size = 16}).slides().front().mpp_x == 0.25);
}

TEST_CASE("a slide through OpenSlide that was changed is an error") {
  const TempFolder folder;
  const std::string path = folder / "a.tif";
  const WrittenSlide slide = write_slide(path, plain_pixels());
  const SlideSource source({.files = path, .size = 64});
  REQUIRE_NOTHROW(read_sample(source, 0));
  slide.overwrite(slide.offsets[0], Bytes(64, std::byte{1}));
  std::filesystem::last_write_time(path, std::filesystem::last_write_time(path) + std::chrono::seconds(2));
  const Error error = error_of([&] { (void)read_sample(source, 0); });
  CHECK(error.code() == Errc::io);
  CHECK(mentions(error, "was changed or replaced"));
}
