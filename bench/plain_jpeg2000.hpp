// SPDX-License-Identifier: Apache-2.0
// Decodes a JPEG 2000 tile with OpenJPEG alone, without this library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace penstock::bench {

// `stream`: an RGB image of side * side pixels. `into`: room for these pixels.
void decode_plain_jpeg2000(std::span<const std::byte> stream, std::int32_t side, std::byte* into);

}  // namespace penstock::bench
