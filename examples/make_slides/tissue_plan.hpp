// SPDX-License-Identifier: Apache-2.0
// What stands where in drawn tissue: the piece of tissue on its glass, glands, fibres, nuclei. Lengths with the name
// `q4` are sixteenths of a pixel.
#pragma once

#include <cstdint>
#include <vector>

#include "tissue_noise.hpp"

namespace make_slides {

enum class TissueKind : std::uint8_t { benign, tumor };

/// Where tissue lies, and where glass.
enum class TissueExtent : std::uint8_t { piece, everywhere, nowhere };

/// A gland: an ellipse, warped as everything around it is, with a lumen inside its wall.
struct Gland {
  std::int32_t x = 0, y = 0, radius = 0;  ///< pixels
  std::int32_t narrow = 256;              ///< by how much it is narrower across, times 256
  std::int32_t wall_q4 = 0;               ///< so thick is the epithelium around the lumen
  Direction along = {};
};

/// A nucleus, or something else of its size: an ellipse with amounts of stain.
struct Nucleus {
  std::int32_t x = 0, y = 0;                 ///< pixels
  std::int32_t long_q4 = 0, short_q4 = 0;    ///< half axes
  Direction along = {};                      ///< of the long axis
  std::int32_t haematoxylin = 0, eosin = 0;  ///< inside
  std::int32_t rim = 0;                      ///< haematoxylin more at its edge
  std::int32_t grain = 0;                    ///< how coarse its chromatin looks
};

/// How far a place is from the borders of glands.
struct GlandDistance {
  std::int32_t wall_q4 = 0;   ///< to the nearest gland; negative inside
  std::int32_t lumen_q4 = 0;  ///< to the nearest lumen; negative inside
};

/// All of it follows from kind, seed and the slide's size. Any thread.
class TissuePlan {
 public:
  TissuePlan(TissueKind kind, std::uint64_t seed, std::int32_t width, std::int32_t height) noexcept;

  TissueKind kind() const noexcept { return kind_; }
  /// Seed of another kind of noise, for what is drawn on top.
  std::uint32_t seed(std::uint32_t number) const noexcept { return noise_seed(seed_, number); }

  /// How far inside the piece of tissue a place lies, about; negative on the glass.
  std::int32_t inside_q4(std::int32_t x, std::int32_t y) const noexcept;
  /// 256 for each fibre of the stroma, counted across them from somewhere.
  std::int64_t fibres(std::int32_t x, std::int32_t y) const noexcept;
  /// Glands that may reach into a box, in an order that doesn't depend on it.
  std::vector<Gland> glands(const PixelBox& box) const;
  /// `glands` of a box around the place.
  GlandDistance distance(const std::vector<Gland>& glands, std::int32_t x, std::int32_t y) const noexcept;
  /// Nuclei that reach into a box, in an order that doesn't depend on it: later ones lie on top.
  std::vector<Nucleus> nuclei(const PixelBox& box, TissueExtent extent) const;

 private:
  struct Warp {
    std::int32_t x, y;
  };
  Warp warp(std::int32_t x, std::int32_t y) const noexcept;
  bool inside(TissueExtent extent, std::int32_t x, std::int32_t y) const noexcept;
  Direction along_fibres(std::int32_t x, std::int32_t y) const noexcept;
  void add_basal_row(const Gland& gland, const std::vector<Gland>& all, TissueExtent extent,
                     std::vector<Nucleus>& out) const;
  void add_scattered(const PixelBox& box, const std::vector<Gland>& all, TissueExtent extent,
                     std::vector<Nucleus>& out) const;
  void add_epithelial(std::uint32_t dice, std::int32_t x, std::int32_t y, std::vector<Nucleus>& out) const;
  void add_stromal(std::uint32_t dice, std::int32_t x, std::int32_t y, std::vector<Nucleus>& out) const;

  TissueKind kind_;
  std::uint64_t seed_;
  std::int32_t width_, height_;
};

}  // namespace make_slides
