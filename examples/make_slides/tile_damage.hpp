// SPDX-License-Identifier: Apache-2.0
// Damages tiles in ways in which tiles of real slides are damaged, to test readers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace make_slides {

enum class TileDamage : std::uint8_t {
  empty,    ///< the file says that the tile has no bytes
  garbage,  ///< the tile's bytes are replaced by the same number of random bytes
  cut,      ///< only the first half of the tile's bytes is left
  changed   ///< 400 bytes in a row inside the tile's scan, or all its bytes, are changed; none looks like a marker
};
std::string_view name_of(TileDamage damage) noexcept;

/// A damaged tile of level 0. `tile`: its number, counted row by row.
struct BadTile {
  std::uint64_t tile;
  TileDamage damage;
};
/// Divides `tiles` tiles into `count` equal parts, and chooses a tile in each part by the seed. The kinds of damage
/// take turns. REQUIRES: `count` is at most `tiles`.
std::vector<BadTile> bad_tiles(std::uint64_t count, std::uint64_t tiles, std::uint64_t seed);

/// Returns the bytes that the file gets in place of a tile's stream.
std::vector<std::byte> damaged(std::vector<std::byte> stream, const BadTile& bad, std::uint64_t seed);

}  // namespace make_slides
