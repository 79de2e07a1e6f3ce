// Tiles of a level that were decoded lately.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "file/slide_file.hpp"
#include "pixels/level_pixels.hpp"
#include "pixels/slide_box.hpp"
#include "pixels/tile_reader.hpp"

namespace penstock::slide {

/// For who goes through all tiles of a level: many may lie at the same bytes, as writers have it of empty ones, and a
/// small file may say so of millions. Keeps up to eight decoded tiles, in 8 MiB or in the room of one. One thread at a
/// time.
class LatelyDecoded {
 public:
  LatelyDecoded(LevelReaders& readers, const SlideFile& slide);

  /// The pixels of a box that is a tile, or of what the level has of it: RGB, rows without gaps; null where they have
  /// to be decoded. They stay until the next call. @throws Error(io); Error(corrupt) where what was decoded has 16
  /// times the file's bytes.
  const std::byte* find(const SlideBox& box);
  /// Decodes the pixels of the box that was not found. @throws as LevelPixels.
  const std::byte* decode(const SlideBox& box, Scratch& scratch);

 private:
  struct Decoded {
    TilePlace place;
    std::int64_t width = 0, height = 0;
    std::vector<std::byte> pixels;
  };

  LevelReaders& readers_;
  const SlideFile& slide_;
  std::optional<OpenedSlide> open_;  // none where OpenSlide decodes
  std::vector<Decoded> lately_;
  std::size_t next_ = 0;
  TilePlace place_;
  std::uint64_t bytes_ = 0;  // that were decoded
};

}  // namespace penstock::slide
