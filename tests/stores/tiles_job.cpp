// SPDX-License-Identifier: Apache-2.0
#include "tiles_job.hpp"

#include <memory>

#include <penstock/penstock.hpp>
#include <penstock/sources/lmdb.hpp>
#include <penstock/sources/lmdb_sink.hpp>
#include <penstock/sources/slide.hpp>
#include <penstock/transforms/encode_jpeg.hpp>
#include <penstock/write.hpp>

#include "sources/slide/slide_files.hpp"
#include "sources/source_checks.hpp"
#include "sources/temp_folder.hpp"

namespace penstock_test {

namespace {

using namespace penstock;

// 8 x 5 tiles of 32 px; those of the last column stick out.
constexpr std::int32_t columns = 8, rows = 5, side = 32;

std::string tiles_in(const std::string& store) {
  const LmdbSource source({.path = store});
  std::string content;
  for (std::uint64_t i = 0; i < source.size(); ++i)
    content += source.key(i) + ":" + text_of(read_sample(source, i)["image"]) + "\n";
  return content;
}

Pipeline tiles_of(const std::string& slide, std::int32_t overlap) {
  return from(Slides{.files = slide, .size = side, .overlap = overlap, .edges = SlideEdges::pad}) |
         encode_jpeg("image", {.keep_stored = true});
}

WriteProgress write_to(const std::string& store, const Pipeline& tiles, const HowToWrite& how) {
  return write(tiles, LmdbSink({.path = store, .job = "test", .sync = how.sync}),
               {.threads = 2, .commit_every = how.commit_every});
}

}  // namespace

std::uint64_t cut(const std::string& slide, const std::string& store, std::int32_t overlap, const HowToWrite& how) {
  return write_to(store, tiles_of(slide, overlap) | on_error({.policy = OnError::drop}), how).dropped;
}

StoreJob tiles_job() {
  const auto folder = std::make_shared<TempFolder>();
  const std::string slide = *folder / "slide.svs";
  write_slide(slide, {.width = columns * side - 5, .height = rows * side, .tile_width = side, .tile_height = side});
  StoreJob job;
  job.name = "tiles";
  job.write = [folder, slide](const std::string& to, const HowToWrite& how) {
    const WriteProgress done = write_to(to + "/store", tiles_of(slide, 0), how);
    return done.done - done.skipped;
  };
  job.content = [](const std::string& from) { return tiles_in(from + "/store"); };
  job.items = std::uint64_t{columns} * rows;
  return job;
}

}  // namespace penstock_test
