// SPDX-License-Identifier: Apache-2.0
// Ways in which tiles of slides are found damaged, for tests of what reads them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace make_slides {

enum class TileDamage : std::uint8_t {
  empty,    ///< the file says that it has no bytes
  garbage,  ///< as many bytes as before, which are no JPEG stream
  cut,      ///< its first half
  changed   ///< 400 bytes inside its scan, or all it has, are others, in one piece, and none looks like a marker
};
std::string_view name_of(TileDamage damage) noexcept;

/// A tile of level 0, by its number in rows of tiles.
struct BadTile {
  std::uint64_t tile;
  TileDamage damage;
};
/// `count` of `tiles`, at most all of them, spread evenly: one in each of as many parts of the slide, as the seed says.
/// The ways take turns.
std::vector<BadTile> bad_tiles(std::uint64_t count, std::uint64_t tiles, std::uint64_t seed);

/// What is in the file in place of a tile's stream.
std::vector<std::byte> damaged(std::vector<std::byte> stream, const BadTile& bad, std::uint64_t seed);

}  // namespace make_slides
