// SPDX-License-Identifier: Apache-2.0
// Converts four inks to colours on a screen.
#pragma once

#include <cstdint>

namespace penstock::jpeg {

// Converts `width` pixels of four values (cyan, magenta, yellow, black) to pixels of `channels` values: 3 (red, green,
// blue) or 1 (grey). If `inverted`, 255 means no ink; otherwise 0 does.
void convert_cmyk(const std::uint8_t* cmyk, std::int32_t width, bool inverted, int channels, std::uint8_t* out);

}  // namespace penstock::jpeg
