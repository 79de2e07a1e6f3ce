// SPDX-License-Identifier: Apache-2.0
// Decodes a JPEG 2000 tile with OpenJPEG alone, without this library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace penstock::bench {

// `stream`: an RGB image of side * side pixels. `into`: room for these pixels. `left_out`: finest resolution levels
// that are not decoded; each halves the side of what is written.
void decode_plain_jpeg2000(std::span<const std::byte> stream, std::int32_t side, std::byte* into,
                           std::uint32_t left_out = 0);

}  // namespace penstock::bench
