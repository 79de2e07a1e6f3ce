// SPDX-License-Identifier: Apache-2.0
// Records of a size of pixels that no level has.
#include <penstock/sources/slide.hpp>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include <penstock/penstock.hpp>
#include <penstock/transforms/image.hpp>

#include "sources/slide/slide_files.hpp"
#include "sources/slide/slide_images.hpp"
#include "sources/source_checks.hpp"
#include "sources/temp_folder.hpp"
#include "support/catch.hpp"

using namespace penstock;
using namespace penstock_test;

namespace {

// 0.25 micrometres a pixel, and a level of 1.
SlideForm quarter() { return {.width = 700, .height = 420, .lower = {{175, 105}}, .per_unit = 40'000}; }

// The triangle filter on all of an image, in real numbers, both axes at once.
std::vector<double> exactly_resized(const Image& image, std::int32_t width, std::int32_t height) {
  const auto weights = [](std::int32_t in, std::int32_t out, std::int32_t i) {
    const double scale = static_cast<double>(in) / out, support = std::max(scale, 1.0), center = (i + 0.5) * scale;
    std::vector<std::pair<std::int32_t, double>> all;
    double total = 0;
    for (std::int32_t k = 0; k < in; ++k)
      if (const double weight = 1 - std::abs(k + 0.5 - center) / support; weight > 0) {
        all.emplace_back(k, weight);
        total += weight;
      }
    for (auto& [k, weight] : all) weight /= total;
    return all;
  };
  std::vector<double> out;
  for (std::int32_t y = 0; y < height; ++y) {
    const auto down = weights(image.shape.height, height, y);
    for (std::int32_t x = 0; x < width; ++x) {
      const auto across = weights(image.shape.width, width, x);
      for (std::int32_t c = 0; c < 3; ++c) {
        double sum = 0;
        for (const auto& [row, of_row] : down)
          for (const auto& [column, of_column] : across) sum += of_row * of_column * image.at(row, column, c);
        out.push_back(sum);
      }
    }
  }
  return out;
}

Image resized(const Image& image, std::int32_t width, std::int32_t height) {
  ImageOp op(image.shape);
  op.resize({height, width});
  Image out({height, width, 3});
  TestScratch scratch;
  image_executor().run(image.view(), op, reinterpret_cast<std::byte*>(out.pixels.data()), scratch);
  return out;
}

}  // namespace

TEST_CASE("records are boxes of the level made smaller as a whole: they meet without a seam") {
  const TempFolder folder;
  const std::string path = folder / "a.tif";
  const WrittenSlide slide = write_slide(path, quarter());
  struct Wanted {
    double mpp;
    std::int32_t width, height;
    std::size_t level;
  };
  for (const Wanted& wanted : {Wanted{0.5, 350, 210, 0}, {0.3, 583, 350, 0}, {0.9, 194, 117, 0}, {1.5, 117, 70, 1}}) {
    CAPTURE(wanted.mpp);
    const SlideSource whole({.files = path, .mpp = wanted.mpp, .size = 1000, .edges = SlideEdges::shrink});
    const SlideInfo& info = whole.slides().front();
    REQUIRE_FALSE(info.failure.has_value());
    CHECK(info.resampled);
    CHECK(info.level == wanted.level);
    CHECK(info.image_width == wanted.width);
    CHECK(info.image_height == wanted.height);
    const Image& level = wanted.level == 0 ? slide.pixels : slide.lower.front();
    const Image image = image_of(read_sample(whole, 0)["image"]);
    REQUIRE(image == resized(level, wanted.width, wanted.height));
    const std::vector<double> exact = exactly_resized(level, wanted.width, wanted.height);
    double most = 0;
    for (std::size_t i = 0; i < exact.size(); ++i) most = std::max(most, std::abs(exact[i] - image.pixels[i]));
    CHECK(most < 1.01);
    for (const SlideEdges edges : {SlideEdges::drop, SlideEdges::pad, SlideEdges::shrink})
      for (const auto& [size, stride] : {std::pair(64, 64), {32, 50}, {50, 37}, {1, 29}}) {
        CAPTURE(static_cast<int>(edges), size, stride);
        const SlideSource source(
            {.files = path, .mpp = wanted.mpp, .size = size, .stride = stride, .edges = edges, .pad_color = {9, 8, 7}});
        const std::int64_t columns =
            edges == SlideEdges::drop
                ? (wanted.width - size) / stride + 1
                : std::min((wanted.width - size + stride - 1) / stride + 1, (wanted.width + stride - 1) / stride);
        for (std::uint64_t i = 0; i < source.size(); ++i) {
          const std::int64_t x = static_cast<std::int64_t>(i) % columns * stride,
                             y = static_cast<std::int64_t>(i) / columns * stride;
          const OwnedSample sample = read_sample(source, i);
          const Image record = image_of(sample["image"]);
          REQUIRE(record == box_of(image, x, y, record.shape.width, record.shape.height, {9, 8, 7}));
          REQUIRE(number_of(sample, "x") == std::llround(static_cast<double>(x) * 700 / wanted.width));
        }
      }
  }
}

TEST_CASE("an image that comes out as large as its level is that level") {
  const TempFolder folder;
  const std::string path = folder / "a.tif";
  const WrittenSlide slide = write_slide(path, quarter());
  for (const double mpp : {0.25, 0.25001, 0.2501}) {
    const SlideSource source({.files = path, .mpp = mpp, .size = 100, .mpp_tolerance = 0});
    CHECK_FALSE(source.slides().front().resampled);
    for_each_record({.files = path, .mpp = mpp, .size = 100, .mpp_tolerance = 0},
                    [&](const Image& image, std::int64_t x, std::int64_t y) {
                      REQUIRE(image == box_of(slide.pixels, x, y, 100, 100));
                    });
  }
  // One side alone is as large.
  const WrittenSlide flat = write_slide(path, {.width = 700, .height = 20, .per_unit = 40'000});
  const SlideSource source(
      {.files = path, .mpp = 0.2551, .size = 1000, .mpp_tolerance = 0, .edges = SlideEdges::shrink});
  const SlideInfo& info = source.slides().front();
  CHECK(info.image_height == 20);
  CHECK(image_of(read_sample(source, 0)["image"]) ==
        resized(flat.pixels, static_cast<std::int32_t>(info.image_width), 20));
}

TEST_CASE("levels that are much larger are made smaller in little memory") {
  const TempFolder folder;
  const std::string path = folder / "a.tif";
  const WrittenSlide slide = write_slide(path, {.width = 1500, .height = 2900, .per_unit = 40'000});
  for (const auto& [mpp, width, height] : {std::tuple(5.0, 75, 145), {1.7, 221, 426}, {19.0, 20, 38}}) {
    CAPTURE(mpp);
    const Image image = resized(slide.pixels, width, height);
    for (const auto& [size, stride] : {std::pair(20, 20), {16, 9}, {7, 20}, {200, 200}})
      for_each_record({.files = path, .mpp = mpp, .size = size, .stride = stride, .edges = SlideEdges::pad},
                      [&, number = 0](const Image& record, std::int64_t, std::int64_t) mutable {
                        const int columns = std::min((std::max(width - size, 0) + stride - 1) / stride + 1,
                                                     (width + stride - 1) / stride);
                        const int x = number % columns * stride, y = number / columns * stride;
                        CAPTURE(size, x, y);
                        ++number;
                        REQUIRE(record == box_of(image, x, y, size, size));
                      });
  }
}

TEST_CASE("what a record takes does not grow with the tiles below it") {
  const TempFolder folder;
  const std::string path = folder / "a.tif";
  // Some thousand tiles, 19 MB of pixels, all of them in one record.
  write_slide(path, {.width = 2600, .height = 2450, .per_unit = 40'000});
  for (const bool verify : {false, true}) {
    const Pipeline record = from(Slides{.files = path, .mpp = 20, .size = 30, .edges = SlideEdges::pad});
    Loader loader((verify ? record | check({.verify = true}) : record) | batch(1),
                  {.threads = 1, .max_memory_bytes = std::size_t{4} << 20, .epochs = 1});
    std::uint64_t rows = 0;
    while (const auto batch = loader.next()) rows += batch->size();
    CHECK(rows == record.size());
  }
}

TEST_CASE("resampled records are the same through a loader, in part and verified") {
  const TempFolder folder;
  const std::string path = folder / "a.tif";
  write_slide(path, quarter());
  const SlideSource whole({.files = path, .mpp = 0.4, .size = 1000, .edges = SlideEdges::shrink});
  const Image image = image_of(read_sample(whole, 0)["image"]);
  const Pipeline records = from(Slides{.files = path, .mpp = 0.4, .size = 90, .stride = 60, .edges = SlideEdges::pad});
  const std::int64_t columns = (image.shape.width - 90 + 59) / 60 + 1;
  // Memory of one byte keeps no block, so only parts are decoded.
  for (const std::uint64_t block_bytes : {std::uint64_t{1} << 20, std::uint64_t{1}})
    for (const bool verify : {false, true})
      for (const bool crop : {false, true}) {
        CAPTURE(block_bytes, verify, crop);
        Pipeline all = verify ? records | check({.verify = true}) : records;
        all = all | shuffle({.seed = 5});
        if (crop) all = all | center_crop("image", {33, 41});
        Loader loader(all | batch(4), {.threads = 3, .max_block_bytes = block_bytes, .epochs = 1});
        std::uint64_t rows = 0;
        while (const auto batch = loader.next())
          for (std::size_t row = 0; row < batch->size(); ++row, ++rows) {
            const auto index = static_cast<std::int64_t>(batch->indices()[row]);
            const std::int64_t x = index % columns * 60, y = index / columns * 60;
            const Image expected = crop ? box_of(image, x + 24, y + 28, 41, 33) : box_of(image, x, y, 90, 90);
            REQUIRE(std::memcmp(static_cast<const std::byte*>((*batch)["image"].data) + row * expected.pixels.size(),
                                expected.pixels.data(), expected.pixels.size()) == 0);
          }
        CHECK(rows == records.size());
      }
}

TEST_CASE("another size of pixels has another identity, and plan() says what is done") {
  const TempFolder folder;
  const std::string path = folder / "a.tif";
  write_slide(path, quarter());
  const auto identity = [&](const Slides& options) {
    Slides all = options;
    all.files = path;
    all.size = 32;
    return SlideSource(all).identity();
  };
  CHECK(identity({}) == identity({.mpp = 0.25}));
  CHECK(identity({}) != identity({.level = 1}));
  CHECK(identity({.level = 1}) == identity({.mpp = 1}));
  CHECK(identity({.mpp = 0.5}) != identity({}));
  CHECK(identity({.mpp = 0.5}) != identity({.mpp = 0.6}));
  const std::string plan = from(Slides{.files = path, .mpp = 0.5, .size = 32}).plan();
  CHECK(plan.find("no stored level has the size of pixels that is asked for") != std::string::npos);
}
