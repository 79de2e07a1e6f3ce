// A record's image, which is decoded when somebody wants its pixels.
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

/// What all images of a source have in common.
struct ImageRules {
  std::array<std::uint8_t, 3> pad_color{};
};

class PromisedTile final : public PromisedImage {
 public:
  /// `box`: of the slide's image; what lies outside of it is padded. `blocks`: the decoded tiles that its `source_box`
  /// touches, row by row; those that are empty, or all where there are none, are read from the file.
  PromisedTile(LevelReaders& readers, const SlideFile& slide, const ImageRules& rules, const SlideBox& box,
               std::span<const std::span<const std::byte>> blocks) noexcept
      : readers_(&readers), slide_(&slide), rules_(&rules), box_(box), blocks_(blocks) {}

  ImageShape shape() const override;
  Pixels decode(const Box& box, bool verify, std::byte* into, Scratch& scratch) override;
  /// The stored JPEG where the record is one whole JPEG tile of the file that lies inside the slide; else empty.
  std::span<const std::byte> stored_jpeg(Scratch& scratch) override;

 private:
  void resample(const LevelPixels& level, const SlideBox& there, bool verify, const Canvas& canvas, Scratch& scratch);

  LevelReaders* readers_;
  const SlideFile* slide_;
  const ImageRules* rules_;
  SlideBox box_;
  std::span<const std::span<const std::byte>> blocks_;
};

/// The part of the stored level that a box of the slide's image is made of: where it is that level, the part of the box
/// that lies inside; else what the resampling reads.
SlideBox source_box(const SlideFile& slide, const SlideBox& box);

}  // namespace penstock::slide
