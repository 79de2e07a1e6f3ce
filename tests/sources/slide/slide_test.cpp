// SPDX-License-Identifier: Apache-2.0
// Records of slides: which there are, and their pixels.
#include <penstock/sources/slide.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <penstock/penstock.hpp>
#include <penstock/transforms/image.hpp>

#include "sources/slide/slide_files.hpp"
#include "sources/slide/slide_images.hpp"
#include "sources/source_checks.hpp"
#include "sources/temp_folder.hpp"
#include "support/catch.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace penstock;
using namespace penstock_test;

namespace {

// Each record of one slide, alone, against what is known.
void check_records(Slides options, const WrittenSlide& slide) {
  // Half of them keep where tiles lie.
  static bool keeps = false;
  keeps = !keeps;
  if (!keeps) options.max_kept_bytes = 0;
  const SlideSource source(options);
  for (std::uint64_t i = 0; i < source.size(); ++i) {
    const OwnedSample sample = read_sample(source, i);
    const Image image = image_of(sample["image"]);
    CAPTURE(i, source.key(i));
    REQUIRE(image == box_of(slide.pixels, number_of(sample, "x"), number_of(sample, "y"), image.shape.width,
                            image.shape.height, options.pad_color));
  }
}

std::vector<std::string> keys_of(const SlideSource& source) {
  std::vector<std::string> keys;
  for (std::uint64_t i = 0; i < source.size(); ++i) keys.push_back(source.key(i));
  return keys;
}

}  // namespace

TEST_CASE("places of the grid are records, whose keys say where they are") {
  const TempFolder folder;
  write_slide(folder / "a.svs");  // 200 x 140
  const auto keys = [&](Slides options) {
    options.files = folder / "a.svs";
    return keys_of(SlideSource(options));
  };
  using Keys = std::vector<std::string>;
  CHECK(keys({.size = 100}) == Keys{"a/000000_000000", "a/000000_000100"});
  CHECK(keys({.size = 100, .edges = SlideEdges::pad}) ==
        Keys{"a/000000_000000", "a/000000_000100", "a/000100_000000", "a/000100_000100"});
  CHECK(keys({.size = 140, .stride = 60}) == Keys{"a/000000_000000", "a/000000_000060"});
  CHECK(keys({.size = 140, .overlap = 80}) == Keys{"a/000000_000000", "a/000000_000060"});
  CHECK(keys({.size = 141}).empty());
  CHECK(keys({.size = 141, .edges = SlideEdges::shrink}) == Keys{"a/000000_000000", "a/000000_000141"});
  CHECK(keys({.size = 500, .edges = SlideEdges::pad}) == Keys{"a/000000_000000"});
  CHECK(keys({.size = 100, .left = 64, .top = 40}) == Keys{"a/000040_000064"});
  CHECK(keys({.size = 100, .left = 200, .edges = SlideEdges::pad}).empty());
  // Neighbours that overlap: none lies in what others have whole.
  CHECK(keys({.size = 100, .stride = 50, .edges = SlideEdges::pad}).size() == 3 * 2);
  // Gaps: no place without a pixel of the slide.
  CHECK(keys({.size = 10, .stride = 195, .edges = SlideEdges::pad}) == Keys{"a/000000_000000", "a/000000_000195"});
  CHECK(keys({.size = 10, .stride = 200, .edges = SlideEdges::pad}) == Keys{"a/000000_000000"});
}

TEST_CASE("squares are the same places, eight by eight") {
  const TempFolder folder;
  write_slide(folder / "a.svs");
  for (const std::int32_t size : {7, 10, 16, 33}) {
    const SlideSource rows({.files = folder / "a.svs", .size = size, .edges = SlideEdges::pad});
    const SlideSource squares(
        {.files = folder / "a.svs", .size = size, .edges = SlideEdges::pad, .order = SlideOrder::squares});
    CAPTURE(size);
    std::vector<std::string> keys = keys_of(squares);
    const std::vector<std::string> in_rows = keys_of(rows);
    CHECK(std::is_sorted(in_rows.begin(), in_rows.end()));
    const std::vector<std::uint64_t> ends = squares.block_ends();
    REQUIRE(ends.back() == squares.size());
    // A square's places lie in a box of 8 x 8.
    std::uint64_t first = 0;
    for (const std::uint64_t end : ends) {
      const std::int64_t x = number_of(read_sample(squares, first), "x"),
                         y = number_of(read_sample(squares, first), "y");
      for (std::uint64_t i = first; i < end; ++i) {
        const OwnedSample sample = read_sample(squares, i);
        REQUIRE((number_of(sample, "x") - x) / size < 8);
        REQUIRE((number_of(sample, "y") - y) / size < 8);
      }
      first = end;
    }
    std::sort(keys.begin(), keys.end());
    CHECK(keys == in_rows);
  }
}

TEST_CASE("pixels are those of the slide, however it is written and wherever records lie") {
  const TempFolder folder;
  for (const bool rgb : {false, true})
    for (const bool big_tiff : {false, true})
      for (const bool big_endian : {false, true}) {
        SlideForm form{.rgb = rgb, .big_tiff = big_tiff, .big_endian = big_endian};
        if (rgb || big_tiff) form.luma = {1, 1};
        if (rgb && big_endian) form.luma = {2, 1};
        form.own_tables = big_tiff && !big_endian;
        form.short_sizes = !big_tiff;
        const WrittenSlide slide = write_slide(folder / "a.svs", form);
        CAPTURE(rgb, big_tiff, big_endian);
        for (const SlideEdges edges : {SlideEdges::drop, SlideEdges::pad, SlideEdges::shrink})
          for (const auto& [size, stride] : {std::pair(64, 64),
                                             {32, 64},
                                             {128, 128},
                                             {64, 32},
                                             {50, 50},
                                             {40, 71},
                                             {96, 17},
                                             {200, 1000},
                                             {1, 39}}) {
            CAPTURE(static_cast<int>(edges), size, stride);
            check_records({.files = folder / "a.svs",
                           .size = size,
                           .stride = stride,
                           .left = stride == 71 ? 150
                                   : size == 64 ? 32
                                                : 0,
                           .top = size == 50 ? 13 : 0,
                           .edges = edges,
                           .pad_color = {1, 2, 3},
                           .order = stride == 17 ? SlideOrder::squares : SlideOrder::rows},
                          slide);
          }
      }
}

TEST_CASE("tiles of other shapes, and a slide of one tile") {
  const TempFolder folder;
  for (const SlideForm& form : {SlideForm{.width = 300, .height = 130, .tile_width = 48, .tile_height = 80},
                                {.width = 33, .height = 17, .tile_width = 240, .tile_height = 240},
                                {.width = 48, .height = 48, .tile_width = 48, .tile_height = 48, .big_tiff = true},
                                {.width = 1, .height = 1, .tile_width = 16, .tile_height = 16, .big_endian = true}}) {
    const WrittenSlide slide = write_slide(folder / "a.svs", form);
    CAPTURE(form.width, form.height);
    for (const std::int32_t size : {16, 48, 100})
      check_records({.files = folder / "a.svs", .size = size, .edges = SlideEdges::pad}, slide);
  }
}

TEST_CASE("whole tiles that no two records share are no blocks") {
  const TempFolder folder;
  write_slide(folder / "a.svs");
  const auto whole = [&](std::int32_t size, std::int32_t stride) {
    const SlideSource source({.files = folder / "a.svs", .size = size, .stride = stride, .edges = SlideEdges::pad});
    CHECK((source.blocks() == 0) == source.slides().front().whole_tiles);
    return source.slides().front().whole_tiles;
  };
  CHECK(whole(64, 64));
  CHECK(whole(128, 128));
  CHECK(whole(30, 64));
  CHECK_FALSE(whole(65, 64));
  CHECK_FALSE(whole(32, 32));
  CHECK_FALSE(whole(64, 96));
  // Places between the lines of tiles, and across them.
  const auto shifted = [&](std::int32_t size, std::int64_t left) {
    return SlideSource({.files = folder / "a.svs", .size = size, .stride = 64, .left = left}).blocks() == 0;
  };
  CHECK(shifted(30, 34));
  CHECK_FALSE(shifted(30, 35));
  CHECK(shifted(64, 128));
}

TEST_CASE("a loader gives the same images at any number of threads, with and without memory for tiles") {
  const TempFolder folder;
  const WrittenSlide a = write_slide(folder / "a.svs"), b = write_slide(folder / "b.svs", {.rgb = true, .seed = 5});
  for (const std::int32_t stride : {64, 40}) {
    const Pipeline pipeline =
        from(Slides{.files = folder / "*.svs", .size = 64, .stride = stride, .edges = SlideEdges::pad}) |
        shuffle({.seed = 1});
    for (const bool crops : {false, true}) {
      const Pipeline made = crops ? pipeline | random_crop("image", {40, 40}) | random_flip("image") : pipeline;
      for (const unsigned threads : {1u, 3u})
        for (const std::uint64_t bytes : {0u, 60'000u, 64u << 20})
          for (const bool verify : {false, true}) {
            CAPTURE(stride, crops, threads, bytes, verify);
            Loader loader(made | check({.verify = verify}) | batch(5),
                          {.threads = threads, .max_block_bytes = bytes, .epochs = 1});
            std::uint64_t position = 0;
            while (const std::optional<Batch> batch = loader.next())
              for (std::uint64_t row = 0; row < batch->size(); ++row, ++position) {
                const OwnedSample expected = made.at(position);
                const TensorView images = (*batch)["image"];
                const std::size_t bytes = images.bytes() / batch->size();
                REQUIRE(expected["image"].bytes() == bytes);
                REQUIRE(std::memcmp(expected["image"].data, images.data + row * bytes, bytes) == 0);
              }
            CHECK(position == made.size());
          }
    }
  }
}

TEST_CASE("a file is one slide, by whatever name") {
  const TempFolder folder;
  write_slide(folder / "a.svs", {.width = 64, .height = 64});
  std::filesystem::create_symlink("a.svs", folder / "b.svs");
  for (const std::string& other : {folder / "b.svs", folder.path().string() + "/./a.svs"}) {
    const Error error = error_of([&] { SlideSource source({.paths = {folder / "a.svs", other}, .size = 64}); });
    CHECK(error.code() == Errc::invalid_argument);
    CHECK(mentions(error, "it is the same file as"));
    CHECK(error.file() == other);
  }
}

TEST_CASE("slides are numbered and named") {
  const TempFolder folder;
  for (const char* path : {"x/1.svs", "x/2.svs", "y/1.tif"}) {
    std::filesystem::create_directories((folder.path() / path).parent_path());
    write_slide(folder / path, {.width = 64, .height = 64});
  }
  const auto names = [](const SlideSource& source) {
    std::vector<std::string> names;
    for (const SlideInfo& slide : source.slides()) names.push_back(slide.name);
    return names;
  };
  using Names = std::vector<std::string>;
  const SlideSource x({.files = folder / "x/*", .size = 64});
  CHECK(names(x) == Names{"1", "2"});
  CHECK(number_of(read_sample(x, 1), "slide") == 1);
  CHECK(x.file_of(1) == folder / "x/2.svs");
  CHECK(x.groups() == std::vector<Group>{{"1", 1}, {"2", 2}});
  CHECK(names(SlideSource({.files = folder / "?/*", .size = 64})) == Names{"x/1", "x/2", "y/1"});
  write_slide(folder / "x/1.tif", {.width = 64, .height = 64});
  CHECK(names(SlideSource({.files = folder / "x/1.*", .size = 64})) == Names{"1.svs", "1.tif"});
  write_slide(folder / "y/3.ome.tif", {.width = 64, .height = 64});
  CHECK(names(SlideSource({.files = folder / "y/*", .size = 64})) == Names{"1", "3"});
  const SlideSource listed({.paths = {folder / "y/1.tif", folder / "x/2.svs"}, .size = 64});
  CHECK(names(listed) == Names{"1", "2"});
  CHECK(*listed.labels("slide") == std::vector<std::int64_t>{0, 1});
  CHECK_FALSE(listed.labels("image").has_value());
}

TEST_CASE("labels of coordinates are those that records have") {
  const TempFolder folder;
  write_slide(folder / "a.svs");
  for (const SlideOrder order : {SlideOrder::rows, SlideOrder::squares}) {
    const SlideSource source({.files = folder / "a.svs", .size = 12, .edges = SlideEdges::pad, .order = order});
    for (const char* field : {"x", "y", "slide"}) {
      const std::vector<std::int64_t> labels = *source.labels(field);
      REQUIRE(labels.size() == source.size());
      for (std::uint64_t i = 0; i < source.size(); ++i) REQUIRE(labels[i] == number_of(read_sample(source, i), field));
    }
  }
}

TEST_CASE("another set of slides, and another grid, have another identity") {
  const TempFolder folder;
  write_slide(folder / "a.svs");
  write_slide(folder / "b.svs");
  const auto identity = [&](Slides options) {
    if (options.files.empty()) options.files = folder / "a.svs";
    return SlideSource(options).identity();
  };
  const std::uint64_t first = identity({});
  CHECK(identity({}) == first);
  CHECK(identity({.max_open_files = 3}) == first);
  CHECK(identity({.max_kept_bytes = 0}) == first);
  CHECK(identity({.files = folder / "b.svs"}) != first);
  CHECK(identity({.files = folder / "*.svs"}) != first);
  CHECK(identity({.size = 64}) != first);
  CHECK(identity({.stride = 255}) != first);
  CHECK(identity({.edges = SlideEdges::pad}) != first);
  CHECK(identity({.left = 1}) != first);
  CHECK(identity({.top = 1}) != first);
  CHECK(identity({.order = SlideOrder::squares}) != first);
}

TEST_CASE("options that can't work are refused") {
  const TempFolder folder;
  write_slide(folder / "a.svs");
  const auto refused = [&](Slides options) {
    const Error error = error_of([&] { SlideSource source(options); });
    CHECK(error.source() == "slide");
    return error.code() == Errc::invalid_argument;
  };
  const std::string a = folder / "a.svs";
  CHECK(refused({}));
  CHECK(refused({.files = a, .paths = {a}}));
  CHECK(refused({.paths = {a, a}}));
  CHECK(refused({.files = a, .size = 0}));
  CHECK(refused({.files = a, .size = 65537}));
  CHECK(refused({.files = a, .stride = -1}));
  CHECK(refused({.files = a, .left = -1}));
  CHECK(refused({.files = a, .overlap = 256}));
  CHECK(refused({.files = a, .stride = 100, .overlap = 100}));
  CHECK(refused({.files = a, .max_open_files = 0}));
  CHECK(refused({.files = a, .group = "patient"}));
  CHECK(code_of([&] { SlideSource source({.files = folder / "*.tif"}); }) == Errc::not_found);
}

}  // namespace PENSTOCK_TEST_FILE
