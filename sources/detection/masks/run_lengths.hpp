// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "masks/mask_shape.hpp"

namespace penstock::detection {

/// Draws masks that are given as lengths of runs of 0 and 1 in turns, beginning with 0, column by column.
/// One thread at a time.
class RunPainter {
 public:
  /// Begins a mask of `pixels` pixels.
  void begin(std::int64_t pixels) noexcept {
    pixels_ = pixels;
    at_ = 0;
    ends_.clear();
  }
  /// Adds a run. @throws Error(corrupt) if the length is negative, or runs have more pixels than the mask.
  void add(std::int64_t length);
  /// Adds the runs in a string, as pycocotools packs them. @throws Error(corrupt) if it is not such a string, and what
  /// `add` throws.
  void add_packed(std::string_view text);
  /// Sets the pixels of the runs of 1 to 1. @throws Error(corrupt) if the runs have fewer pixels than the mask.
  void draw(const Mask& mask);

 private:
  std::int64_t pixels_ = 0, at_ = 0;
  std::vector<std::int64_t> ends_;  // the pixel after each run, if there is one
  MaskShape shape_;
};

}  // namespace penstock::detection
