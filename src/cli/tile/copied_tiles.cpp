// SPDX-License-Identifier: Apache-2.0
#include "tile/copied_tiles.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace penstock::cli {

namespace {

// Returns whether the record's image at (x, y) is a whole tile of the file, inside of the slide. Call it only if the
// file's tiles have the records' size.
bool is_stored(const TileFlags& flags, const SlideInfo& slide, std::int64_t x, std::int64_t y) {
  return x % slide.tile_width == 0 && y % slide.tile_height == 0 && x + flags.cut.size <= slide.image_width &&
         y + flags.cut.size <= slide.image_height;
}

}  // namespace

std::size_t slides_of_rank(const SlideSource& source) {
  return static_cast<std::size_t>(
      std::ranges::count_if(source.slides(), [](const SlideInfo& slide) { return !slide.passed_over; }));
}

Copies copies_of(const TileFlags& flags, const SlideSource& source, const SlideInfo& slide) {
  if (slide.failure || slide.records == 0) return {};
  if (flags.encoding != "jpeg") return {0, "--encoding was given"};
  if (flags.encode) return {0, "--encode was given"};
  if (slide.codec == SlideCodec::openslide) return {0, slide.why_openslide};
  if (slide.codec != SlideCodec::jpeg) return {0, std::string("the file's tiles are ") + to_string(slide.codec)};
  if (slide.resampled) return {0, "no stored level has pixels of this size"};
  const std::string own = fmt::format("the file's tiles are of {}x{}", slide.tile_width, slide.tile_height);
  if (slide.tile_width != flags.cut.size || slide.tile_height != flags.cut.size) return {0, own};
  std::uint64_t copied = 0;
  for (std::uint64_t i = slide.first; i < slide.first + slide.records; ++i) {
    const SlidePlace place = source.place(i);
    if (is_stored(flags, slide, place.image_x, place.image_y)) ++copied;
  }
  const std::int32_t stride = flags.cut.stride != 0 ? flags.cut.stride : flags.cut.size - flags.cut.overlap;
  if (copied == slide.records) return {copied, ""};
  return {copied,
          stride % flags.cut.size == 0 ? "those at the edges are not whole" : own + ", and others lie between them"};
}

}  // namespace penstock::cli
