// SPDX-License-Identifier: Apache-2.0
// A JPEG 2000 tile as someone without this library decodes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace penstock::bench {

// `into`: side * side pixels, RGB. The stream holds RGB of that size.
void decode_plain_jpeg2000(std::span<const std::byte> stream, std::int32_t side, std::byte* into);

}  // namespace penstock::bench
