// SPDX-License-Identifier: Apache-2.0
// A histology slide as a drawing: pink stroma, purple nuclei, white lumina, on glass.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "tissue_plan.hpp"

namespace make_slides {

/// Pixels as a function of kind, seed, slide's size and place, and of nothing else: of a box they are the same whatever
/// else is drawn, in whatever order, on whatever machine. One pixel is half a micrometre. Any thread.
class DrawnTissue {
 public:
  /// `width` and `height` of the slide: the piece of tissue lies in its middle.
  DrawnTissue(TissueKind kind, std::uint64_t seed, std::int32_t width, std::int32_t height);

  /// Draws a box, RGB, rows one after the other without gaps. It may reach over the slide's edges.
  void draw(const PixelBox& box, TissueExtent extent, std::uint8_t* rgb) const;
  /// Whether there is tissue, not glass.
  bool tissue_at(std::int32_t x, std::int32_t y) const noexcept { return plan_.inside_q4(x, y) > 0; }

 private:
  static constexpr std::size_t amounts = 256;
  using Light = std::array<std::array<std::uint32_t, 3>, amounts>;

  void stain(const PixelBox& box, TissueExtent extent, std::int16_t* haematoxylin, std::int16_t* eosin) const;
  void develop(const PixelBox& box, const std::int16_t* haematoxylin, const std::int16_t* eosin,
               std::uint8_t* rgb) const;

  TissuePlan plan_;
  Light through_haematoxylin_{}, through_eosin_{};  ///< what is left of light, of each amount of stain
};

}  // namespace make_slides
