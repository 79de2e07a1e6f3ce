// SPDX-License-Identifier: Apache-2.0
// A record's image, decoded when its pixels are needed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <penstock/extend/promised_image.hpp>

#include "file/slide_file.hpp"
#include "pixels/level_pixels.hpp"
#include "pixels/slide_box.hpp"

namespace penstock::slide {

/// Rules that all images of a source share.
struct ImageRules {
  std::array<std::uint8_t, 3> pad_color{};
};

class PromisedTile final : public PromisedImage {
 public:
  /// `box`: a box of the slide's image. Pixels outside of the image are padding. `blocks`: the decoded tiles that
  /// `source_box` of this box touches, row by row. A tile is read from the file if its block is empty, or if `blocks`
  /// is empty.
  PromisedTile(LevelReaders& readers, const SlideFile& slide, const ImageRules& rules, const SlideBox& box,
               std::span<const std::span<const std::byte>> blocks) noexcept
      : readers_(&readers), slide_(&slide), rules_(&rules), box_(box), blocks_(blocks) {}

  ImageShape shape() const override;
  Pixels decode(const Box& box, bool verify, std::byte* into, Scratch& scratch) override;
  /// Returns the stored JPEG if the record is one whole JPEG tile of the file, inside the slide. Returns an empty span
  /// for any other record, for a tile that is left out, and for a JPEG with a faulty header.
  std::span<const std::byte> stored_jpeg(Scratch& scratch) override;

 private:
  void resample(const LevelPixels& level, const SlideBox& there, bool verify, const Canvas& canvas, Scratch& scratch);

  LevelReaders* readers_;
  const SlideFile* slide_;
  const ImageRules* rules_;
  SlideBox box_;
  std::span<const std::span<const std::byte>> blocks_;
};

/// Returns the part of the stored level that a box of the slide's image is made of. If the image is that level, returns
/// the part of the box inside of the level; otherwise returns the box that resampling reads.
SlideBox source_box(const SlideFile& slide, const SlideBox& box);

}  // namespace penstock::slide
