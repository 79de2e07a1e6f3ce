// Sums of tiles that lie at the same bytes.
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

/// For who sums the pixels of all tiles of a level: many may lie at the same bytes, as writers have it of empty ones.
/// Keeps the sums of thousands of places, in 8 MiB, from the second time on. One thread at a time.
class KeptSums {
 public:
  /// `k`: that many pixels along a side become one.
  KeptSums(LevelReaders& readers, const SlideFile& slide, std::int32_t k);

  /// What was kept of a tile at the same bytes, and so far from the next block's begin; empty where nothing was. `box`
  /// is a tile, or what the level has of it. @throws Error(io).
  std::span<const std::uint32_t> find(const SlideBox& box);
  /// Makes room for the sums of the box that was not found, all 0. Empty if they are not kept: the first time, or if
  /// they are too many.
  std::span<std::uint32_t> keep(const SlideBox& box, std::size_t sums);

 private:
  // Where it lies, its size, and its place in the blocks that it begins in.
  using Key = std::tuple<std::uint64_t, std::uint64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t>;
  Key key_of(const SlideBox& box) const noexcept;

  const SlideFile& slide_;
  const std::int32_t k_;
  std::optional<OpenedSlide> open_;  // none where OpenSlide decodes
  TilePlace place_;                  // of the box that was looked for last
  std::map<Key, std::vector<std::uint32_t>> kept_;
  std::size_t bytes_ = 0;
};

}  // namespace penstock::slide
