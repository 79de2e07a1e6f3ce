// SPDX-License-Identifier: Apache-2.0
// Plans drawn tissue: where the piece of tissue, its glands, fibres and nuclei are. Lengths whose names end in `q4` are
// in sixteenths of a pixel.
#pragma once

#include <cstdint>
#include <vector>

#include "tissue_noise.hpp"

namespace make_slides {

enum class TissueKind : std::uint8_t { benign, tumor };

/// Which part of the slide is tissue; the rest is glass.
enum class TissueExtent : std::uint8_t { piece, everywhere, nowhere };

/// A gland: an ellipse with a lumen inside its wall. It is warped like everything around it.
struct Gland {
  std::int32_t x = 0, y = 0, radius = 0;  ///< pixels
  std::int32_t narrow = 256;              ///< length divided by width, times 256
  std::int32_t wall_q4 = 0;               ///< thickness of the epithelium around the lumen
  Direction along = {};
};

/// A nucleus, or something else of its size: an ellipse with amounts of stain.
struct Nucleus {
  std::int32_t x = 0, y = 0;                 ///< pixels
  std::int32_t long_q4 = 0, short_q4 = 0;    ///< the half axes
  Direction along = {};                      ///< direction of the long axis
  std::int32_t haematoxylin = 0, eosin = 0;  ///< stains inside
  std::int32_t rim = 0;                      ///< additional haematoxylin at the edge
  std::int32_t grain = 0;                    ///< how coarse the chromatin looks
};

/// How far a place is from the borders of glands.
struct GlandDistance {
  std::int32_t wall_q4 = 0;   ///< distance to the nearest gland; negative inside the gland
  std::int32_t lumen_q4 = 0;  ///< distance to the nearest lumen; negative inside the lumen
};

/// The plan of a slide. It depends only on the kind, the seed and the slide's size. Any thread may use it.
class TissuePlan {
 public:
  TissuePlan(TissueKind kind, std::uint64_t seed, std::int32_t width, std::int32_t height) noexcept;

  TissueKind kind() const noexcept { return kind_; }
  /// Returns the seed of a kind of noise, for the drawing.
  std::uint32_t seed(std::uint32_t number) const noexcept { return noise_seed(seed_, number); }

  /// Returns about how far a pixel is inside the piece of tissue; negative on the glass.
  std::int32_t inside_q4(std::int32_t x, std::int32_t y) const noexcept;
  /// Returns a position across the fibres of the stroma, in 256ths of a fibre. It counts from an arbitrary fibre.
  std::int64_t fibres(std::int32_t x, std::int32_t y) const noexcept;
  /// Returns the glands that may reach into a box, in an order that doesn't depend on the box.
  std::vector<Gland> glands(const PixelBox& box) const;
  /// Returns the distances of a pixel. `glands`: the glands of a box around it.
  GlandDistance distance(const std::vector<Gland>& glands, std::int32_t x, std::int32_t y) const noexcept;
  /// Returns the nuclei that reach into a box, in an order that doesn't depend on the box. Later nuclei cover earlier
  /// ones.
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
