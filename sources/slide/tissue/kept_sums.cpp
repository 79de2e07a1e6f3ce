// SPDX-License-Identifier: Apache-2.0
#include "tissue/kept_sums.hpp"

#include "pixels/level_pixels.hpp"

namespace penstock::slide {

KeptSums::KeptSums(LevelReaders& readers, const SlideFile& slide, std::int32_t k) : slide_(slide), k_(k) {
  const Level& level = slide.image.level;
  // A key has the place of one stored tile, and tiles whose samples lie apart are made of several.
  if (level.codec != SlideCodec::openslide && !level.values.planes) open_ = readers.tiles.open(slide);
}

KeptSums::Key KeptSums::key_of(const SlideBox& box) const noexcept {
  return {place_.offset, place_.bytes, box.width, box.height, box.x % k_, box.y % k_};
}

std::span<const std::uint32_t> KeptSums::find(const SlideBox& box) {
  if (!open_) return {};
  const Level& level = slide_.image.level;
  const auto column = static_cast<std::uint64_t>(box.x / level.tile_width),
             row = static_cast<std::uint64_t>(box.y / level.tile_height);
  TileReader::find(*open_, row * level.tile_columns() + column, {&place_, 1});
  const auto found = kept_.find(key_of(box));
  if (found == kept_.end()) return {};
  return found->second;
}

std::span<std::uint32_t> KeptSums::keep(const SlideBox& box, std::size_t sums) {
  constexpr std::size_t most_bytes = std::size_t{8} << 20, entry_bytes = 128;
  // Nothing is kept for tiles that the file leaves out. Only such a tile's position in the level shows whether the tile
  // is glass or was lost, and the key does not contain this position.
  if (!open_ || place_.is_left_out()) return {};
  // The first time, only the key is kept. Most slides have each tile's bytes only once, so memory for sums would be
  // wasted.
  const bool again = kept_.contains(key_of(box));
  const std::size_t bytes = again ? sums * sizeof(std::uint32_t) : entry_bytes;
  if (bytes + entry_bytes > most_bytes) return {};
  if (bytes_ + bytes > most_bytes) {
    kept_.clear();
    bytes_ = again ? entry_bytes : 0;
  }
  bytes_ += bytes;
  return kept_[key_of(box)] = std::vector<std::uint32_t>(again ? sums : 0);
}

}  // namespace penstock::slide
