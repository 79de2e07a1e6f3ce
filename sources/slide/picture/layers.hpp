// SPDX-License-Identifier: Apache-2.0
// Draws layers over a slide's picture, and makes the legend's lines for them.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <penstock/sources/slide.hpp>

#include "file/slide_file.hpp"
#include "picture/bitmap.hpp"
#include "picture/caption.hpp"
#include "picture/picture_mapping.hpp"
#include "picture/place_outcomes.hpp"
#include "tissue/tissue_mask.hpp"

namespace penstock::slide {

inline constexpr Rgb tissue_colour{0, 150, 60};
/// Colours of classes of regions. The classes of a file get the colours in the order of their names, whether or not all
/// classes are drawn. The ninth class has the first colour again.
inline constexpr std::array<Rgb, 8> region_colours{{{215, 25, 28},
                                                    {200, 0, 200},
                                                    {0, 160, 180},
                                                    {140, 70, 20},
                                                    {110, 60, 190},
                                                    {90, 110, 0},
                                                    {0, 0, 0},
                                                    {255, 105, 180}}};

/// Draws layers in the order of the calls. Keeps references to `slide`, `options` and `overview`.
class Layers {
 public:
  /// `scale`: pixels of the picture per pixel of the font. Lines have at most this width.
  Layers(const SlideFile& slide, const Slides& options, const PictureMapping& overview, SmallPicture small,
         std::int32_t scale);

  /// Colours pixels by the outcome of their places.
  void draw_outcomes(const PlaceOutcomes& places);
  /// Colours the pixels that can't be read.
  void draw_unread();
  /// Draws an outline around each record. If the records are too small for that, draws the edge of the area that they
  /// cover. Call after `draw_outcomes`.
  void draw_record_outlines();
  /// Draws the edge of the area of ones in a mask, which has a byte per pixel of the picture.
  void draw_edge(std::span<const std::uint8_t> mask, const std::string& meaning, Rgb colour);

  Bitmap& picture() noexcept { return picture_; }
  /// Returns the legend's lines for the layers that were drawn.
  std::vector<LegendEntry>& legend() noexcept { return legend_; }

 private:
  void show(Bitmap& bitmap, std::int32_t x, std::int32_t y, PlaceOutcome outcome) const noexcept;
  void explain(PlaceOutcome outcome, const std::string& meaning);
  Bitmap empty_swatch() const;
  // Return the column and the row of a pixel of the picture.
  std::int32_t x_of(std::size_t pixel) const noexcept {
    return static_cast<std::int32_t>(pixel % static_cast<std::size_t>(picture_.width()));
  }
  std::int32_t y_of(std::size_t pixel) const noexcept {
    return static_cast<std::int32_t>(pixel / static_cast<std::size_t>(picture_.width()));
  }

  const SlideFile& slide_;
  const Slides& options_;
  const PictureMapping& overview_;
  const std::int32_t scale_;
  Bitmap picture_;
  std::vector<std::uint8_t> unknown_;
  std::vector<PlaceOutcome> outcomes_;
  double place_pixels_;  // the smaller of a place's side and the stride, in pixels of the picture
  std::vector<LegendEntry> legend_;
};

}  // namespace penstock::slide
