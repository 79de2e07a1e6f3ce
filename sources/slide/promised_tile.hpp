// A record's image, which is decoded when somebody wants its pixels.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <penstock/extend/promised_image.hpp>

#include "slide_file.hpp"
#include "tile_reader.hpp"

namespace penstock::slide {

/// Pixels of a slide at level 0.
struct SlideBox {
  std::int64_t x = 0, y = 0, width = 0, height = 0;
};

/// Where a slide's pixels stand in memory.
struct Canvas {
  std::byte* pixels;
  std::ptrdiff_t stride;
  std::int64_t left, top;  ///< of the first pixel, at level 0
  std::byte* at(std::int64_t x, std::int64_t y) const noexcept { return pixels + (y - top) * stride + (x - left) * 3; }
};

/// What all images of a source have in common.
struct ImageRules {
  std::array<std::uint8_t, 3> pad_color{};
};

class PromisedTile final : public PromisedImage {
 public:
  /// `box`: of the slide; what lies outside of it is padded. `blocks`: the decoded tiles that it touches, row by row;
  /// those that are empty, or all where there are none, are read from the file.
  PromisedTile(TileReader& reader, const SlideFile& slide, const ImageRules& rules, const SlideBox& box,
               std::span<const std::span<const std::byte>> blocks) noexcept
      : reader_(&reader), slide_(&slide), rules_(&rules), box_(box), blocks_(blocks) {}

  ImageShape shape() const override;
  Pixels decode(const Box& box, bool verify, std::byte* into, Scratch& scratch) override;
  /// Of one whole tile of the file that lies inside the slide.
  std::span<const std::byte> stored_jpeg(Scratch& scratch) override;

 private:
  void decode_tiles(const SlideBox& there, bool verify, const Canvas& canvas, Scratch& scratch);

  TileReader* reader_;
  const SlideFile* slide_;
  const ImageRules* rules_;
  SlideBox box_;
  std::span<const std::span<const std::byte>> blocks_;
};

/// Tiles of the file that a box inside the slide touches: `columns` x `rows` of them.
struct TouchedTiles {
  std::uint64_t column = 0, row = 0, columns = 0, rows = 0;
};
TouchedTiles tiles_of(const Directory& directory, const SlideBox& box) noexcept;

/// The part of a box that lies inside the slide.
SlideBox inside(const Directory& directory, const SlideBox& box) noexcept;

}  // namespace penstock::slide
