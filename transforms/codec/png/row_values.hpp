// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "layout.hpp"

namespace penstock::png {

// What a tRNS chunk says of an image without a palette: the one transparent colour, one value or RGB.
struct TransparentColor {
  bool set = false;
  std::uint16_t values[3] = {};
};
// Reads it from a checked PNG, if opacity is needed. Returns false if libpng would warn of it.
bool read_transparent_color(std::span<const std::byte> encoded, const Layout& layout, TransparentColor& color);

// Makes a row, as Layout describes it, of `width` pixels as they are stored, without a filter.
void make_row(const Layout& layout, const TransparentColor& transparent, const std::uint8_t* stored, std::int32_t width,
              std::uint8_t* row);

}  // namespace penstock::png
