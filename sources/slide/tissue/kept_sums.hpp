// SPDX-License-Identifier: Apache-2.0
// Keeps the sums of tiles that share their bytes.
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

/// Keeps sums of tiles for code that sums the pixels of all tiles of a level. Many tiles may share their bytes, because
/// writers store empty tiles only once. Sums are kept when a tile's bytes are met for the second time. The sums of
/// thousands of tiles fit in the 8 MiB that are used. One thread at a time.
class KeptSums {
 public:
  /// `k`: each k x k pixels of the level are summed.
  KeptSums(LevelReaders& readers, const SlideFile& slide, std::int32_t k);

  /// Returns the sums that were kept for a tile with the same bytes and size, and the same offset in the k x k pixels
  /// in which it begins. Returns an empty span if no sums were kept. `box`: a tile, or the part of the tile inside the
  /// level. @throws Error(io).
  std::span<const std::uint32_t> find(const SlideBox& box);
  /// Call this directly after `find` if it found no sums for the box. Returns room for the sums, all 0. Returns an
  /// empty span if the sums are not kept, because these bytes are met for the first time, or there are too many sums.
  /// Also returns an empty span for tiles that the file leaves out, if OpenSlide decodes the level, and if each sample
  /// has tiles of its own.
  std::span<std::uint32_t> keep(const SlideBox& box, std::size_t sums);

 private:
  // A tile's position and size in the file, its width and height, and its offset in the k x k pixels in which it
  // begins.
  using Key = std::tuple<std::uint64_t, std::uint64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t>;
  Key key_of(const SlideBox& box) const noexcept;

  const SlideFile& slide_;
  const std::int32_t k_;
  std::optional<OpenedSlide> open_;  // none if no sums are kept
  TilePlace place_;                  // position of the tile that was looked up last
  std::map<Key, std::vector<std::uint32_t>> kept_;
  std::size_t bytes_ = 0;
};

}  // namespace penstock::slide
