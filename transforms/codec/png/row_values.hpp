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
TransparentColor transparent_color(std::span<const std::byte> encoded, const Layout& layout);

// Makes a row, as Layout describes it, of `width` pixels as they are stored, without a filter.
void make_row(const Layout& layout, const TransparentColor& transparent, const std::uint8_t* stored, std::int32_t width,
              std::uint8_t* row);

}  // namespace penstock::png
