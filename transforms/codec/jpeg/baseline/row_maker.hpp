// SPDX-License-Identifier: Apache-2.0
// Makes rows of pixels from the values of components.
#pragma once

#include <cstdint>

#include <penstock/extend/image_executor.hpp>

#include "frame.hpp"
#include "pixel_rows.hpp"
#include "planes.hpp"

namespace penstock::jpeg::baseline {

// How an image's chroma becomes as large as its luma.
struct Upsampling {
  int across = 1, down = 1;  // pixels per value of chroma
  // Whether chroma is interpolated between values. If not, each value is repeated for all of its pixels. Like in
  // libjpeg, values are repeated if a value is for two columns and the image has at most 4 columns, and in a picture of
  // an eighth of its size.
  bool smooth = false;

  Upsampling(const Frame& frame, bool luma_only);
  // Returns whether rows of pixels need the values of a neighbouring row.
  bool looks_at_rows() const noexcept { return smooth && down == 2; }
};

class PixelRowMaker {
 public:
  // Makes rows of `width` pixels from column `left` on; the planes begin with pixel `planes_left`. A pixel has three
  // values, or, if `gray`, only luma. The memory is in `scratch`, which must not be reset or moved as long as rows are
  // made.
  PixelRowMaker(const Frame& frame, const Planes& planes, const Upsampling& upsampling, bool gray, int planes_left,
                int left, int width, Scratch& scratch);

  void make(int y, std::uint8_t* pixels) const;

 private:
  void make_half_across(int y, const PixelRow& row) const;
  void make_between_rows(int y, const PixelRow& row) const;
  void make_repeated(int y, const PixelRow& row) const;
  const std::uint8_t* chroma(int component, int y) const noexcept { return planes_.row(component, y) + chroma_offset_; }
  // The row of chroma that is nearest to pixel row `y`, and the second nearest row.
  struct Nearest {
    int near, far;
  };
  Nearest nearest(int y) const noexcept;

  const Frame& frame_;
  const Planes& planes_;
  Upsampling upsampling_;
  bool gray_;
  PixelRowKernels rows_;
  int width_, left_out_;
  int luma_offset_, chroma_offset_;  // offsets of the first values that are used, in the rows of the planes
  int chroma_left_;                  // column of the first chroma value that is used, in the whole image's chroma
  std::uint16_t* sums_[2] = {};
  std::uint8_t* values_[2] = {};
};

}  // namespace penstock::jpeg::baseline
