// SPDX-License-Identifier: Apache-2.0
// Draws a histology slide: pink stroma, purple nuclei and white lumina, on glass.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "tissue_plan.hpp"

namespace make_slides {

/// Draws the pixels of a slide. A pixel depends only on the kind, the seed, the slide's size and the pixel's position.
/// So it is the same in every box, in any order of drawing, on every machine. One pixel is half a micrometre. Any
/// thread may use it.
class DrawnTissue {
 public:
  /// `width`, `height`: the size of the slide. The piece of tissue is in its middle.
  DrawnTissue(TissueKind kind, std::uint64_t seed, std::int32_t width, std::int32_t height);

  /// Draws a box as RGB, with rows one after the other without gaps. The box may extend beyond the slide's edges.
  void draw(const PixelBox& box, TissueExtent extent, std::uint8_t* rgb) const;
  /// Returns whether this pixel is tissue, not glass.
  bool tissue_at(std::int32_t x, std::int32_t y) const noexcept { return plan_.inside_q4(x, y) > 0; }

 private:
  static constexpr std::size_t amounts = 256;
  using Light = std::array<std::array<std::uint32_t, 3>, amounts>;

  void stain(const PixelBox& box, TissueExtent extent, std::int16_t* haematoxylin, std::int16_t* eosin) const;
  void develop(const PixelBox& box, const std::int16_t* haematoxylin, const std::int16_t* eosin,
               std::uint8_t* rgb) const;

  TissuePlan plan_;
  Light through_haematoxylin_{}, through_eosin_{};  ///< for each amount of stain, the light that is left
};

}  // namespace make_slides
