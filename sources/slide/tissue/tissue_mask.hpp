// SPDX-License-Identifier: Apache-2.0
// Finds where a slide has tissue, in a small picture of the slide.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <penstock/sources/slide_tissue.hpp>

namespace penstock::slide {

/// A small RGB picture. Some pixels may be unknown. Unknown pixels are white.
struct SmallPicture {
  std::int32_t width = 0, height = 0;
  std::vector<std::uint8_t> rgb;
  std::vector<std::uint8_t> unknown;  ///< 1 for pixels that could not be read, otherwise 0; empty if all could be read
  std::string why_unknown;            ///< the first error that made pixels unknown
};

/// The rules of SlideTissue, in pixels.
struct MaskRules {
  SlideTissue::By by = SlideTissue::By::saturation;
  int threshold = 0;
  std::int32_t closing = 0;  ///< closing uses a square whose sides have 2 * closing + 1 pixels; 0: no closing
  double least_area = 0;
};

struct TissueMask {
  std::int32_t width = 0, height = 0;
  int threshold = 0;                 ///< the threshold that was used
  std::vector<std::uint8_t> tissue;  ///< 0 or 1, row by row
  std::string why_unknown = {};      ///< why some pixels were unknown, and count as glass; empty: all were known
};

/// Returns the mask of a picture, by the rules.
TissueMask find_tissue(const SmallPicture& picture, const MaskRules& rules);

/// Returns the threshold that separates a histogram best: the least t with the greatest variance between the values up
/// to t and the values above. Otsu, "A threshold selection method from gray-level histograms", 1979.
int otsu_threshold(std::span<const std::uint64_t, 256> histogram) noexcept;

/// Counts tissue in boxes of a mask, each in constant time.
class TissueCounts {
 public:
  explicit TissueCounts(const TissueMask& mask);
  /// Returns the number of pixels of tissue in [left, right) x [top, bottom).
  std::uint64_t in(std::int32_t left, std::int32_t top, std::int32_t right, std::int32_t bottom) const noexcept;

 private:
  std::size_t stride_;
  std::vector<std::uint32_t> sums_;
};

}  // namespace penstock::slide
