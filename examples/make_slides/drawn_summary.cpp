// SPDX-License-Identifier: Apache-2.0
#include "drawn_summary.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace make_slides {

namespace {

// Where a tile is: its column and row, and the position of its upper left pixel.
struct BadPlace {
  std::uint64_t column, row, x, y;
};
BadPlace place_of(const BadTile& bad, const DrawnSlide& drawn) {
  const std::uint64_t columns = drawn.levels.front().columns, side = static_cast<std::uint64_t>(drawn.wish.tile.side);
  const std::uint64_t column = bad.tile % columns, row = bad.tile / columns;
  return {column, row, column * side, row * side};
}

std::uint64_t tiles_of(const DrawnSlide& drawn) {
  std::uint64_t tiles = 0;
  for (const DrawnLevel& level : drawn.levels) tiles += level.tiles.size();
  return tiles;
}

// Returns a number such as "1,234,567".
template <class Number>
std::string with_commas(Number number) {
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3;) text.insert(at -= 3, 1, ',');
  return text;
}

std::string in_quotes(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

}  // namespace

std::string summary_text(const DrawnSlide& drawn) {
  std::string text;
  for (const BadTile& bad : drawn.wish.bad) {
    const BadPlace place = place_of(bad, drawn);
    text += fmt::format("bad: tile {}, {} at pixel {}, {}: {}\n", place.column, place.row, place.x, place.y,
                        name_of(bad.damage));
  }
  const auto counted = [](std::uint64_t number, const char* noun) {
    return fmt::format("{} {}{}", with_commas(number), noun, number == 1 ? "" : "s");
  };
  const SlideWish& wish = drawn.wish;
  return text + fmt::format("{}: {} x {} pixels, {}, {} of {} x {}; {:.1f} MB{} in {:.1f} s\n", drawn.path,
                            with_commas(wish.width), with_commas(wish.height), counted(drawn.levels.size(), "level"),
                            counted(tiles_of(drawn), "tile"), wish.tile.side, wish.tile.side,
                            static_cast<double>(drawn.bytes) / 1e6, drawn.layout.tiff.big ? " (BigTIFF)" : "",
                            drawn.seconds);
}

std::string summary_json(const DrawnSlide& drawn) {
  constexpr std::array formats{"aperio", "tiff", "ome"};  // in the order of SlideFormat
  std::vector<std::string> levels, bad_tiles;
  for (const DrawnLevel& level : drawn.levels)
    levels.push_back(fmt::format(R"({{"width": {}, "height": {}, "columns": {}, "rows": {}}})", level.width,
                                 level.height, level.columns, level.rows));
  for (const BadTile& bad : drawn.wish.bad) {
    const BadPlace place = place_of(bad, drawn);
    bad_tiles.push_back(fmt::format(R"({{"column": {}, "row": {}, "x": {}, "y": {}, "how": "{}"}})", place.column,
                                    place.row, place.x, place.y, name_of(bad.damage)));
  }
  const SlideWish& wish = drawn.wish;
  return fmt::format(
      R"({{"slide": {}, "kind": "{}", "seed": {}, "format": "{}", "big_tiff": {}, "big_endian": {}, )"
      R"("microns_per_pixel": {}, "tile": {}, "tiles": {}, "levels": [{}], "bad_tiles": [{}], "bytes": {}, )"
      R"("seconds": {:.3f}}})"
      "\n",
      in_quotes(drawn.path), wish.kind == TissueKind::tumor ? "tumor" : "benign", wish.seed,
      formats[static_cast<std::size_t>(drawn.layout.format)], drawn.layout.tiff.big, drawn.layout.tiff.big_endian,
      microns_per_pixel, wish.tile.side, tiles_of(drawn), fmt::join(levels, ", "), fmt::join(bad_tiles, ", "),
      drawn.bytes, drawn.seconds);
}

}  // namespace make_slides
