// SPDX-License-Identifier: Apache-2.0
// Keeps sums of tiles that share their bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "file/slide_file.hpp"
#include "pixels/level_pixels.hpp"
#include "pixels/slide_box.hpp"

namespace penstock::slide {

/// For code that sums the pixels of all tiles of a level. Many tiles may share their bytes, because writers store empty
/// tiles only once. Keeps the sums of thousands of positions, in 8 MiB, from the second time on. One thread at a time.
class KeptSums {
 public:
  /// `k`: this many pixels per side become one.
  KeptSums(LevelReaders& readers, const SlideFile& slide, std::int32_t k);

  /// Returns what was kept of a tile with the same bytes, and the same distance from the next block's beginning; empty
  /// if nothing was. `box`: a tile, or the part of it inside the level. @throws Error(io).
  std::span<const std::uint32_t> find(const SlideBox& box);
  /// Makes room for the sums of the box that was not found, all 0. Empty if they are not kept: the first time, or if
  /// there are too many.
  std::span<std::uint32_t> keep(const SlideBox& box, std::size_t sums);

 private:
  // Its position in the file, its size, and its place in the blocks in which it begins.
  using Key = std::tuple<std::uint64_t, std::uint64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t>;
  Key key_of(const SlideBox& box) const noexcept;

  const SlideFile& slide_;
  const std::int32_t k_;
  std::optional<OpenedSlide> open_;  // none if OpenSlide decodes
  TilePlace place_;                  // position of the box that was looked up last
  std::map<Key, std::vector<std::uint32_t>> kept_;
  std::size_t bytes_ = 0;
};

}  // namespace penstock::slide
