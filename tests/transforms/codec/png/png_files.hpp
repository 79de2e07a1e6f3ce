// SPDX-License-Identifier: Apache-2.0
// PNG files of every kind, made without libpng, and what must come out of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include <penstock/transforms/decode_png.hpp>

#include "support/test_images.hpp"

namespace penstock_test {

using Bytes = std::vector<std::byte>;

// All choices.
inline constexpr penstock::PngOptions::Color png_colors[] = {
    penstock::PngOptions::rgb, penstock::PngOptions::gray, penstock::PngOptions::rgba, penstock::PngOptions::as_stored,
    penstock::PngOptions::labels};

struct PngKind {
  int color = 2;  // 0 grey, 2 RGB, 3 palette, 4 grey with opacity, 6 RGB with opacity
  int depth = 8;
  bool interlaced = false;
  bool transparency = false;  // with a tRNS chunk
};

// All combinations that the standard allows.
std::vector<PngKind> png_kinds();

// Chunks, and what they hold.
class PngFile {
 public:
  // Random samples.
  PngFile(const PngKind& kind, penstock::Size size, std::uint64_t seed);

  struct Chunk {
    std::string_view type;
    std::vector<std::uint8_t> data;
  };
  std::vector<Chunk> chunks;
  // The chunks with their check sums.
  Bytes bytes() const;
  // The image, worked out from the samples.
  Image expected(penstock::PngOptions::Color color, penstock::DType dtype = penstock::DType::u8) const;

 private:
  std::uint32_t sample(std::int32_t y, std::int32_t x, int c) const;
  std::vector<std::uint8_t> packed(std::int32_t top, std::int32_t left, std::int32_t step_y, std::int32_t step_x) const;

  PngKind kind_;
  penstock::Size size_;
  int samples_;                             // of a pixel
  std::vector<std::uint32_t> values_;       // [H][W][samples]
  std::vector<std::uint8_t> palette_;       // [entries][3]
  std::vector<std::uint8_t> opacity_;       // of palette entries
  std::vector<std::uint32_t> transparent_;  // the one transparent colour
  std::uint64_t seed_;
};

}  // namespace penstock_test
