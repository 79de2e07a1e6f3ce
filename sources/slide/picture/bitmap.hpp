// SPDX-License-Identifier: Apache-2.0
// Pixels to draw on.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace penstock::slide {

using Rgb = std::array<std::uint8_t, 3>;

/// Pixels [left, right) x [top, bottom).
struct Area {
  std::int32_t left = 0, top = 0, right = 0, bottom = 0;
};

/// A picture to draw on. Pixels outside of it are not drawn.
class Bitmap {
 public:
  Bitmap(std::int32_t width, std::int32_t height, Rgb colour) : width_(width), height_(height) {
    rgb_.resize(static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * 3);
    fill({0, 0, width, height}, colour);
  }
  /// Takes RGB pixels, row by row.
  Bitmap(std::int32_t width, std::int32_t height, std::vector<std::uint8_t> rgb)
      : width_(width), height_(height), rgb_(std::move(rgb)) {}

  std::int32_t width() const noexcept { return width_; }
  std::int32_t height() const noexcept { return height_; }
  std::vector<std::uint8_t>& rgb() noexcept { return rgb_; }

  void set(std::int32_t x, std::int32_t y, Rgb colour) noexcept {
    if (has(x, y)) std::copy(colour.begin(), colour.end(), at(x, y));
  }
  /// Mixes `parts` hundredths of a colour into a pixel.
  void blend(std::int32_t x, std::int32_t y, Rgb colour, int parts) noexcept {
    if (!has(x, y)) return;
    std::uint8_t* const pixel = at(x, y);
    for (std::size_t c = 0; c < colour.size(); ++c)
      pixel[c] = static_cast<std::uint8_t>((pixel[c] * (100 - parts) + colour[c] * parts + 50) / 100);
  }
  void fill(const Area& area, Rgb colour) noexcept {
    for (std::int32_t y = std::max(area.top, 0); y < std::min(area.bottom, height_); ++y)
      for (std::int32_t x = std::max(area.left, 0); x < std::min(area.right, width_); ++x) set(x, y, colour);
  }
  /// Draws the outermost pixels of an area, as lines of `thick` pixels.
  void frame(const Area& area, std::int32_t thick, Rgb colour) noexcept {
    fill({area.left, area.top, area.right, std::min(area.top + thick, area.bottom)}, colour);
    fill({area.left, std::max(area.bottom - thick, area.top), area.right, area.bottom}, colour);
    fill({area.left, area.top, std::min(area.left + thick, area.right), area.bottom}, colour);
    fill({std::max(area.right - thick, area.left), area.top, area.right, area.bottom}, colour);
  }
  /// Copies `other` into this picture. The copy's top left pixel is at `left`, `top`, which must be inside this
  /// picture.
  void paste(const Bitmap& other, std::int32_t left, std::int32_t top) noexcept {
    for (std::int32_t y = 0; y < std::min(other.height_, height_ - top); ++y)
      std::copy_n(other.rgb_.data() + other.offset(0, y),
                  static_cast<std::size_t>(std::min(other.width_, width_ - left)) * 3, at(left, top + y));
  }

 private:
  std::size_t offset(std::int32_t x, std::int32_t y) const noexcept {
    return (static_cast<std::size_t>(y) * static_cast<std::size_t>(width_) + static_cast<std::size_t>(x)) * 3;
  }
  bool has(std::int32_t x, std::int32_t y) const noexcept { return x >= 0 && y >= 0 && x < width_ && y < height_; }
  std::uint8_t* at(std::int32_t x, std::int32_t y) noexcept { return rgb_.data() + offset(x, y); }

  std::int32_t width_, height_;
  std::vector<std::uint8_t> rgb_;
};

}  // namespace penstock::slide
