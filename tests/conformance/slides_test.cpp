// SPDX-License-Identifier: Apache-2.0
// Slides, held to the contracts of a source, of its blocks and of its promised images.
#include <penstock/sources/slide.hpp>

#include <string>

#include <penstock/penstock.hpp>
#include <penstock/sources/slide_index.hpp>
#include <penstock/testing/block_source.hpp>
#include <penstock/testing/source.hpp>

#include "sources/slide/slide_files.hpp"
#include "sources/temp_folder.hpp"
#include "support/catch.hpp"

namespace ps = penstock;
using namespace penstock_test;
using ps::testing::check_block_source;
using ps::testing::check_source;

TEST_CASE("slides keep the contracts of a source, of blocks and of promised images") {
  const TempFolder folder;
  write_slide(folder / "a.svs", {.width = 330, .height = 250});
  write_slide(folder / "b.svs", {.luma = {1, 1}, .rgb = true, .big_tiff = true, .seed = 3});
  write_slide(folder / "c.svs", {.width = 20, .height = 20, .tile_width = 32, .tile_height = 16, .big_endian = true});
  folder.write("cohort.csv", "slide,grade,months,kind\na,1,0.5,x\nb,2,1,y\nc,3,2.5,x\n");
  for (const ps::SlideEdges edges : {ps::SlideEdges::drop, ps::SlideEdges::pad, ps::SlideEdges::shrink})
    for (const ps::SlideOrder order : {ps::SlideOrder::rows, ps::SlideOrder::squares})
      for (const std::int32_t stride : {64, 24}) {
        CAPTURE(static_cast<int>(edges), static_cast<int>(order), stride);
        ps::Slides slides{.files = folder / "*.svs", .size = 64, .stride = stride, .edges = edges, .order = order};
        const auto make = [&] { return ps::SlideSource(slides); };
        const auto other = [&] {
          ps::Slides labelled = slides;
          labelled.labels = folder / "cohort.csv";
          return ps::share(ps::SlideSource(labelled));
        };
        const auto shared = [&] { return ps::share(make()); };
        CHECK(check_source(shared, {.unique_keys = true, .other = other}).text() == "");
        CHECK(check_source(other, {.unique_keys = true}).text() == "");
        CHECK(check_block_source(make).text() == "");
      }
}

TEST_CASE("slides with fits of their stains keep them, opened and by an index") {
  const TempFolder folder;
  write_slide(folder / "a.svs", {.width = 330, .height = 250});
  write_slide(folder / "b.svs", {.luma = {1, 1}, .rgb = true, .big_tiff = true, .seed = 3});
  folder.write("cohort.csv", "slide,grade\na,1\nb,2\n");
  for (const ps::StainMethod method : {ps::StainMethod::macenko, ps::StainMethod::reinhard}) {
    ps::Slides slides{
        .files = folder / "*.svs", .size = 64, .labels = folder / "cohort.csv", .stain = {.method = method}};
    const auto make = [&] { return ps::SlideSource(slides); };
    REQUIRE(make().slides()[0].stain.has_value());
    REQUIRE(make().slides()[1].stain.has_value());
    ps::write_slide_index(slides, folder / "x.tiles");
    ps::Slides indexed = slides;
    indexed.index = folder / "x.tiles";
    const auto other = [&] { return ps::share(ps::SlideSource(indexed)); };
    CHECK(check_source([&] { return ps::share(make()); }, {.unique_keys = true}).text() == "");
    CHECK(check_source(other, {.unique_keys = true}).text() == "");
    CHECK(check_block_source(make).text() == "");
  }
}

TEST_CASE("slides with bad tiles keep them, too") {
  const TempFolder folder;
  const WrittenSlide slide = write_slide(folder / "a.svs", {.width = 330, .height = 250});
  slide.set_size(2, 0);
  slide.overwrite(slide.offsets[9], Bytes(slide.sizes[9], std::byte{0x11}));
  folder.write("b.svs", "no slide");
  for (const std::int32_t stride : {64, 24}) {
    const auto make = [&] {
      return ps::SlideSource({.files = folder / "*.svs", .size = 64, .stride = stride, .edges = ps::SlideEdges::pad});
    };
    const auto shared = [&] { return ps::share(make()); };
    CHECK_FALSE(check_source(shared).passed());
    CHECK(check_source(shared, {.allow_bad_records = true, .unique_keys = true}).text() == "");
  }
}
