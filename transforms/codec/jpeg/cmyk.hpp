// Four inks as colours on a screen.
#pragma once

#include <cstdint>

namespace penstock::jpeg {

// `width` pixels of four values each, cyan, magenta, yellow and black, as `channels` each: 3, red, green and blue, or
// 1, grey. `inverted`: 255 is no ink, not 0.
void convert_cmyk(const std::uint8_t* cmyk, std::int32_t width, bool inverted, int channels, std::uint8_t* out);

}  // namespace penstock::jpeg
