// SPDX-License-Identifier: Apache-2.0
#include "repeated_slide.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <tuple>

#include "on_threads.hpp"

namespace make_slides {

namespace {

using TileNumber = std::uint32_t;

// The different tiles of a level, and which tile is at which place.
struct TilePool {
  std::size_t columns = 0, rows = 0;
  std::vector<TileNumber> grid;  // for each place, the number of its tile
  std::vector<TilePlace> places;
  std::vector<std::vector<std::uint8_t>> halves;  // for each tile, its pixels at half the width and height

  // Returns the number of a place's tile. Beyond the grid it is the last tile's number, because such pixels are outside
  // the level.
  TileNumber at(std::size_t column, std::size_t row) const {
    return grid[std::min(row, rows - 1) * columns + std::min(column, columns - 1)];
  }
};

class RepeatedSlide {
 public:
  RepeatedSlide(const SlideWish& wish, unsigned threads, NewFile& file, std::vector<DrawnLevel>& levels)
      : wish_(wish),
        side_(wish.tile.side),
        threads_(threads),
        file_(file),
        levels_(levels),
        tissue_(wish.kind, wish.seed, wish.width, wish.height) {
    for (unsigned t = 0; t < threads; ++t) makers_.emplace_back(wish.tile);
  }

  void run() {
    TilePool pool = level_0();
    for (std::size_t level = 1; level < levels_.size(); ++level) pool = below(pool, level);
  }

 private:
  using Make = std::function<void(TileNumber, std::uint8_t*)>;

  TilePool level_0() {
    const std::size_t across = tiles_across();
    TilePool pool{levels_[0].columns, levels_[0].rows, {}, {}, {}};
    std::vector<std::tuple<bool, std::size_t, std::size_t>>
        kinds;  // for each tile: whether it is tissue, and its column and row in the square
    std::map<std::tuple<bool, std::size_t, std::size_t>, TileNumber> known;
    for (std::size_t row = 0; row < pool.rows; ++row)
      for (std::size_t column = 0; column < pool.columns; ++column) {
        const std::tuple kind{has_tissue(column, row), column % across, row % across};
        const auto [place, is_new] = known.emplace(kind, static_cast<TileNumber>(kinds.size()));
        if (is_new) kinds.push_back(kind);
        pool.grid.push_back(place->second);
      }
    std::vector<std::vector<std::byte>> streams = make(pool, 0, kinds.size(), [&](TileNumber tile, std::uint8_t* rgb) {
      const auto& [tissue, column, row] = kinds[tile];
      tissue_.draw({static_cast<std::int32_t>(column) * side_, static_cast<std::int32_t>(row) * side_, side_, side_},
                   tissue ? TissueExtent::everywhere : TissueExtent::nowhere, rgb);
    });
    for (const BadTile& bad : wish_.bad) {
      const std::vector<std::byte> stream = damaged(streams[pool.grid[bad.tile]], bad, wish_.seed);
      // An empty stream gets an offset too. Without an offset the tile would count as left out, not as damaged.
      levels_[0].tiles[bad.tile] = {file_.append(stream), static_cast<std::uint32_t>(stream.size())};
    }
    return pool;
  }

  TilePool below(const TilePool& above, std::size_t level) {
    TilePool pool{levels_[level].columns, levels_[level].rows, {}, {}, {}};
    using Four = std::array<TileNumber, 4>;
    std::vector<Four> kinds;
    std::map<Four, TileNumber> known;
    for (std::size_t row = 0; row < pool.rows; ++row)
      for (std::size_t column = 0; column < pool.columns; ++column) {
        const Four four{above.at(2 * column, 2 * row), above.at(2 * column + 1, 2 * row),
                        above.at(2 * column, 2 * row + 1), above.at(2 * column + 1, 2 * row + 1)};
        const auto [place, is_new] = known.emplace(four, static_cast<TileNumber>(kinds.size()));
        if (is_new) kinds.push_back(four);
        pool.grid.push_back(place->second);
      }
    make(pool, level, kinds.size(), [&](TileNumber tile, std::uint8_t* rgb) {
      const std::size_t half = static_cast<std::size_t>(side_) / 2 * 3;
      for (std::size_t quarter = 0; quarter < 4; ++quarter) {
        const std::uint8_t* from = above.halves[kinds[tile][quarter]].data();
        std::uint8_t* to = rgb + quarter / 2 * half * static_cast<std::size_t>(side_) + quarter % 2 * half;
        for (std::int32_t y = 0; y < side_ / 2; ++y, from += half, to += 2 * half) std::memcpy(to, from, half);
      }
    });
    return pool;
  }

  // Makes and stores the pool's tiles, several at a time, and sets their places in the level. Returns their streams.
  std::vector<std::vector<std::byte>> make(TilePool& pool, std::size_t level, std::size_t count, const Make& draw) {
    const std::size_t at_once = 64 * static_cast<std::size_t>(threads_);
    std::vector<std::vector<std::byte>> streams(count);
    pool.halves.resize(count);
    for (std::size_t first = 0; first < count; first += at_once) {
      const std::size_t end = std::min(first + at_once, count);
      on_threads(threads_, end - first, [&](unsigned thread, std::size_t i) {
        TileMaker& maker = makers_[thread];
        draw(static_cast<TileNumber>(first + i), maker.rgb.data());
        streams[first + i] = maker.encode();
        const std::size_t half = static_cast<std::size_t>(side_) / 2 * 3;
        std::vector<std::uint8_t>& small = pool.halves[first + i];
        small.resize(half * static_cast<std::size_t>(side_) / 2);
        halve(maker.rgb.data(), 2 * half, side_ / 2, side_ / 2, {small.data(), half});
      });
      for (std::size_t i = first; i < end; ++i)
        pool.places.push_back({file_.append(streams[i]), static_cast<std::uint32_t>(streams[i].size())});
    }
    for (std::size_t i = 0; i < pool.grid.size(); ++i) levels_[level].tiles[i] = pool.places[pool.grid[i]];
    return streams;
  }

  // Returns the side of the square of different tiles, in tiles. The square has at most 4096 pixels per side and at
  // most 256 tiles.
  std::size_t tiles_across() const {
    std::size_t across = 16;
    while (across > 1 && across * static_cast<std::size_t>(side_) > 4096) across /= 2;
    return across;
  }

  // Returns whether a tile has tissue. In a large slide, squares of four by four tiles are all tissue or all glass, so
  // that few tiles of lower levels have an edge.
  bool has_tissue(std::size_t column, std::size_t row) const {
    const std::size_t square = levels_[0].columns >= 64 && levels_[0].rows >= 64 ? 4 : 1;
    const auto centre = [&](std::size_t tile) {
      return static_cast<std::int32_t>((2 * (tile / square) + 1) * square) * side_ / 2;
    };
    return tissue_.tissue_at(centre(column), centre(row));
  }

  const SlideWish& wish_;
  const std::int32_t side_;
  const unsigned threads_;
  NewFile& file_;
  std::vector<DrawnLevel>& levels_;
  const DrawnTissue tissue_;
  std::deque<TileMaker> makers_;  // a deque, because a TileMaker can't be moved
};

}  // namespace

void draw_repeated_slide(const SlideWish& wish, unsigned threads, NewFile& file, std::vector<DrawnLevel>& levels) {
  RepeatedSlide(wish, threads, file, levels).run();
}

}  // namespace make_slides
