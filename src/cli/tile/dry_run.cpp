// SPDX-License-Identifier: Apache-2.0
#include "tile/dry_run.hpp"

#include <cstdint>
#include <string>

#include <fmt/format.h>

#include <penstock/error.hpp>

#include "commands.hpp"
#include "slides/slide_text.hpp"
#include "stores/sampled_records.hpp"
#include "tile/copied_tiles.hpp"
#include "tile/tile_job.hpp"

namespace penstock::cli {

namespace {

// Makes the stored values of some tiles, which are spread over all tiles. Returns the mean size of these values in
// bytes.
double bytes_of_a_tile(const Pipeline& tiles) {
  constexpr std::uint64_t most = 200;
  std::uint64_t bytes = 0, count = 0;
  for (const std::uint64_t position : sampled_records(tiles.size(), {}, {.most = most})) {
    try {
      bytes += tiles.at(position)["image"].bytes();
      ++count;
    } catch (const Error& error) {
      if (!error.sample_scoped()) throw;
    }
  }
  return count == 0 ? 0 : static_cast<double>(bytes) / static_cast<double>(count);
}

}  // namespace

int tell_what_would_be(const TileFlags& flags, const SlideSource& source, const Pipeline& tiles,
                       const SlidePictures* pictures) {
  std::string text;
  Json slides = Json::array();
  std::uint64_t copied = 0, unreadable = 0;  // `source` has one record for a slide that can't be read
  for (const SlideInfo& slide : source.slides()) {
    if (slide.passed_over) continue;
    const Copies copies = copies_of(flags, source, slide);
    copied += copies.tiles;
    if (slide.failure) {
      ++unreadable;
      text += fmt::format("{}: can't be read: {}\n", printable(slide.name), failure_text(slide));
      slides.push_back(slide_json(slide));
      continue;
    }
    text += fmt::format("{}: {}, {}{}: {} copied, {} encoded{}\n", printable(slide.name), image_text(slide),
                        counted(slide.records, "tile"),
                        slide.places == slide.records ? "" : fmt::format(" of {}", counted(slide.places, "place")),
                        with_commas(copies.tiles), with_commas(slide.records - copies.tiles),
                        copies.why_not.empty() ? "" : ": " + copies.why_not);
    slides.push_back(slide_json(slide));
    slides.back()["copied"] = copies.tiles;
    slides.back()["why_not"] = copies.why_not;
  }
  const std::uint64_t tiles_there = source.size() - unreadable;
  const double bytes = bytes_of_a_tile(tiles) * static_cast<double>(tiles_there);
  text += fmt::format("in all {} of {}, about {}; nothing was written\n", counted(tiles_there, "tile"),
                      counted(slides_of_rank(source) - unreadable, "slide"), bytes_text(bytes));
  for (const std::string& note : left_out_of(flags, source)) text += note + "\n";
  if (flags.writing.json != "-" && !flags.writing.quiet) print(text);
  if (!flags.writing.json.empty()) {
    Json result{{"dry_run", true},
                {"slides", slides},
                {"tiles", tiles_there},
                {"copied", copied},
                {"bytes_about", static_cast<std::uint64_t>(bytes)},
                {"notes", left_out_of(flags, source)}};
    if (pictures != nullptr) add_pictures(result, *pictures);
    write_json(result, flags.writing.json);
  }
  return unreadable == 0 ? exit_ok : exit_bad_records;
}

}  // namespace penstock::cli
