// SPDX-License-Identifier: Apache-2.0
// Pixels of a slide's stored level, from any of the readers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include <penstock/extend/image_executor.hpp>

#include "file/slide_file.hpp"
#include "pixels/openslide_reader.hpp"
#include "pixels/slide_box.hpp"
#include "pixels/tile_reader.hpp"

namespace penstock::slide {

/// The readers of slides' levels. Any thread.
struct LevelReaders {
  LevelReaders(std::size_t most_open, std::size_t openslide_bytes)
      : known(std::make_shared<KnownFiles>()), tiles(most_open, known), regions(most_open, openslide_bytes, known) {}
  std::shared_ptr<KnownFiles> known;
  TileReader tiles;
  OpenSlideReader regions;
};

/// Pixels of one record, from its slide's level.
class LevelPixels {
 public:
  /// `all`: the part of the level from which the record's whole image is made. `blocks`: the decoded tiles that `all`
  /// touches, row by row. A tile is read from the file if its block is empty, or if `blocks` is empty.
  LevelPixels(LevelReaders& readers, const SlideFile& slide, const SlideBox& all,
              std::span<const std::span<const std::byte>> blocks) noexcept
      : readers_(readers), slide_(slide), all_(all), blocks_(blocks) {}

  /// Writes the pixels of `there`, which is inside of `all`. With `verify`, decodes to their ends all tiles of
  /// `all` that have no block, even if their pixels are not written. `outside`: the colour where a slide has no pixels.
  /// @throws Error.
  void read(const SlideBox& there, bool verify, const std::array<std::uint8_t, 3>& outside, const Canvas& canvas,
            Scratch& scratch) const;

 private:
  void read_tiles(const SlideBox& there, bool verify, const Canvas& canvas, Scratch& scratch) const;
  // Writes nothing if the canvas is null.
  void read_region(const SlideBox& there, const std::array<std::uint8_t, 3>& outside, const Canvas* canvas,
                   Scratch& scratch) const;

  LevelReaders& readers_;
  const SlideFile& slide_;
  const SlideBox all_;
  std::span<const std::span<const std::byte>> blocks_;
};

}  // namespace penstock::slide
