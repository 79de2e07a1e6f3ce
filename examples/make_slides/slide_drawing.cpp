// SPDX-License-Identifier: Apache-2.0
#include "slide_drawing.hpp"

#include <algorithm>
#include <cstring>
#include <deque>

#include "on_threads.hpp"
#include "repeated_slide.hpp"

namespace make_slides {

namespace {

// The pixels of one row of tiles of a level, which are made from the level above. The strip of level 0 has no pixels,
// because its tiles are drawn one by one.
struct Strip {
  std::vector<std::uint8_t> rgb;
  std::int32_t filled = 0;  // number of rows of pixels so far
  std::size_t row = 0;      // number of the row of tiles
};

class SlideDrawing {
 public:
  SlideDrawing(const SlideWish& wish, unsigned threads, NewFile& file, std::vector<DrawnLevel>& levels)
      : wish_(wish),
        side_(wish.tile.side),
        threads_(threads),
        file_(file),
        levels_(levels),
        tissue_(wish.kind, wish.seed, wish.width, wish.height),
        strips_(levels.size()),
        next_bad_(wish.bad.begin()) {
    for (unsigned t = 0; t < threads; ++t) makers_.emplace_back(wish.tile);
    for (std::size_t level = 1; level < levels.size(); ++level)
      strips_[level].rgb.resize(static_cast<std::size_t>(side_) * row_bytes(level));
  }

  void run() {
    for (std::size_t row = 0; row < levels_[0].rows; ++row) {
      strips_[0].row = row;
      finish_strip(0);
    }
  }

 private:
  std::size_t row_bytes(std::size_t level) const { return static_cast<std::size_t>(levels_[level].width) * 3; }
  // Returns how many rows of pixels a row of tiles has inside the level.
  std::int32_t rows_of(std::size_t level, std::size_t row) const {
    return std::min(side_, levels_[level].height - static_cast<std::int32_t>(row) * side_);
  }

  // Encodes the tiles of a level's strip, and adds their pixels at half size to the strip of the level below. If that
  // strip is full, finishes it too.
  void finish_strip(std::size_t level) {
    const DrawnLevel& size = levels_[level];
    const std::size_t row = strips_[level].row;
    std::vector<std::vector<std::byte>> streams(size.columns);
    on_threads(threads_, size.columns, [&](unsigned thread, std::size_t column) {
      TileMaker& maker = makers_[thread];
      const std::int32_t x = static_cast<std::int32_t>(column) * side_;
      const std::int32_t width = std::min(side_, size.width - x), height = rows_of(level, row);
      fill_tile(level, x, width, height, maker.rgb.data());
      streams[column] = maker.encode();
      if (level + 1 < levels_.size()) add_below(level + 1, x, width, height, maker.rgb.data());
    });
    for (std::size_t column = 0; column < size.columns; ++column)
      store(level, row * size.columns + column, streams[column]);
    if (level + 1 == levels_.size()) return;
    Strip& below = strips_[level + 1];
    below.filled += rows_of(level, row) / 2;
    if (below.row == levels_[level + 1].rows || below.filled < rows_of(level + 1, below.row)) return;
    finish_strip(level + 1);
    ++below.row;
    below.filled = 0;
  }

  // Writes the pixels of a tile. Beyond the level's edges it repeats the last pixels, like encoders.
  void fill_tile(std::size_t level, std::int32_t x, std::int32_t width, std::int32_t height, std::uint8_t* rgb) {
    const std::size_t stride = static_cast<std::size_t>(side_) * 3, used = static_cast<std::size_t>(width) * 3;
    if (level == 0) {
      const std::int32_t y = static_cast<std::int32_t>(strips_[0].row) * side_;
      tissue_.draw({x, y, side_, side_}, TissueExtent::piece, rgb);
    }
    for (std::int32_t y = 0; y < side_; ++y) {
      std::uint8_t* const row = rgb + static_cast<std::size_t>(y) * stride;
      if (y >= height) {
        std::memcpy(row, row - stride, stride);
        continue;
      }
      if (level != 0)
        std::memcpy(row,
                    strips_[level].rgb.data() + static_cast<std::size_t>(y) * row_bytes(level) +
                        static_cast<std::size_t>(x) * 3,
                    used);
      for (std::size_t i = used; i < stride; ++i) row[i] = row[i - 3];
    }
  }

  void add_below(std::size_t level, std::int32_t x, std::int32_t width, std::int32_t height, const std::uint8_t* rgb) {
    Strip& strip = strips_[level];
    const RgbRows to{strip.rgb.data() + static_cast<std::size_t>(strip.filled) * row_bytes(level) +
                         static_cast<std::size_t>(x / 2) * 3,
                     row_bytes(level)};
    halve(rgb, static_cast<std::size_t>(side_) * 3, width / 2, height / 2, to);
  }

  void store(std::size_t level, std::size_t tile, std::vector<std::byte>& stream) {
    if (level == 0 && next_bad_ != wish_.bad.end() && next_bad_->tile == tile)
      stream = damaged(std::move(stream), *next_bad_++, wish_.seed);
    // An empty stream gets an offset too. Without an offset the tile would count as left out, not as damaged.
    levels_[level].tiles[tile] = {file_.append(stream), static_cast<std::uint32_t>(stream.size())};
    stream = {};
  }

  const SlideWish& wish_;
  const std::int32_t side_;
  const unsigned threads_;
  NewFile& file_;
  std::vector<DrawnLevel>& levels_;
  const DrawnTissue tissue_;
  std::deque<TileMaker> makers_;  // a deque, because a TileMaker can't be moved
  std::vector<Strip> strips_;
  std::vector<BadTile>::const_iterator next_bad_;
};

}  // namespace

std::vector<DrawnLevel> slide_levels(const SlideWish& wish) {
  std::vector<DrawnLevel> levels;
  std::int32_t width = wish.width, height = wish.height;
  const auto tiles = [&](std::int32_t pixels) {
    return static_cast<std::size_t>((pixels + wish.tile.side - 1) / wish.tile.side);
  };
  for (std::size_t level = 0; level < wish.levels; ++level, width /= 2, height /= 2) {
    levels.push_back({width, height, tiles(width), tiles(height)});
    levels.back().tiles.resize(levels.back().columns * levels.back().rows);
  }
  return levels;
}

void halve(const std::uint8_t* from, std::size_t from_stride, std::int32_t width, std::int32_t height, RgbRows to) {
  for (std::int32_t y = 0; y < height; ++y) {
    const std::uint8_t* above = from + static_cast<std::size_t>(2 * y) * from_stride;
    const std::uint8_t* below = above + from_stride;
    std::uint8_t* out = to.data + static_cast<std::size_t>(y) * to.stride;
    for (std::int32_t x = 0; x < width; ++x, above += 6, below += 6, out += 3)
      for (std::size_t c = 0; c < 3; ++c)
        out[c] = static_cast<std::uint8_t>((above[c] + above[c + 3] + below[c] + below[c + 3] + 2) / 4);
  }
}

void draw_slide(const SlideWish& wish, unsigned threads, NewFile& file, std::vector<DrawnLevel>& levels) {
  if (wish.repeat) return draw_repeated_slide(wish, threads, file, levels);
  SlideDrawing(wish, threads, file, levels).run();
}

}  // namespace make_slides
