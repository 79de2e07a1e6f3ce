// SPDX-License-Identifier: Apache-2.0
#include "tile_damage.hpp"

#include <algorithm>

#include "tissue_noise.hpp"

namespace make_slides {

namespace {

enum DamageNoise : std::uint32_t { noise_place = 200, noise_bytes, noise_first };

std::uint32_t damage_dice(std::uint64_t seed, DamageNoise what, std::uint64_t tile, std::uint64_t number) noexcept {
  return hash_of(noise_seed(seed, what), static_cast<std::int32_t>(tile), static_cast<std::int32_t>(number));
}

// Returns where the coded pixels begin, which is after the header of the scan.
std::size_t scan_of(const std::vector<std::byte>& stream) noexcept {
  for (std::size_t at = 2; at + 4 < stream.size() && stream[at] == std::byte{0xff};) {
    const std::size_t length =
        std::to_integer<std::size_t>(stream[at + 2]) * 256 + std::to_integer<std::size_t>(stream[at + 3]);
    const bool scan = stream[at + 1] == std::byte{0xda};
    at += 2 + length;
    if (scan) return at;
  }
  return stream.size();
}

void change_scan(std::vector<std::byte>& stream, const BadTile& bad, std::uint64_t seed) {
  constexpr std::size_t changed_bytes = 400, end_of_image = 2;
  const std::size_t begin = scan_of(stream), end = std::max(begin + end_of_image, stream.size()) - end_of_image;
  const std::size_t spare = end - begin > changed_bytes ? end - begin - changed_bytes : 0;
  // The change begins in the first quarter of the scan, so that much of the picture comes after it.
  std::size_t at = begin + damage_dice(seed, noise_first, bad.tile, 0) % (spare / 4 + 1);
  for (std::size_t changed = 0; at < end && changed < changed_bytes; ++at) {
    // A byte of 255 and the byte after it are not changed, because a change could make them a marker.
    if (stream[at] == std::byte{0xff} || stream[at - 1] == std::byte{0xff}) continue;
    const auto other = static_cast<std::byte>(damage_dice(seed, noise_bytes, bad.tile, changed) % 254);
    stream[at] = other == stream[at] ? std::byte{254} : other;
    ++changed;
  }
}

}  // namespace

std::string_view name_of(TileDamage damage) noexcept {
  switch (damage) {
    case TileDamage::empty:
      return "empty";
    case TileDamage::garbage:
      return "garbage";
    case TileDamage::cut:
      return "cut";
    case TileDamage::changed:
      break;
  }
  return "changed";
}

std::vector<BadTile> bad_tiles(std::uint64_t count, std::uint64_t tiles, std::uint64_t seed) {
  std::vector<BadTile> all;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t begin = tiles * i / count, end = tiles * (i + 1) / count;
    all.push_back({begin + damage_dice(seed, noise_place, i, 0) % (end - begin), static_cast<TileDamage>(i % 4)});
  }
  return all;
}

std::vector<std::byte> damaged(std::vector<std::byte> stream, const BadTile& bad, std::uint64_t seed) {
  switch (bad.damage) {
    case TileDamage::empty:
      return {};
    case TileDamage::garbage:
      for (std::size_t i = 0; i < stream.size(); ++i)
        stream[i] = static_cast<std::byte>(damage_dice(seed, noise_bytes, bad.tile, i) % 255);
      break;
    case TileDamage::cut:
      stream.resize(stream.size() / 2);
      break;
    case TileDamage::changed:
      change_scan(stream, bad, seed);
      break;
  }
  return stream;
}

}  // namespace make_slides
