// SPDX-License-Identifier: Apache-2.0
// Photographs that are encoded in several formats, and a decoder of Penstock beside a plain one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <penstock/extend/image_decoder.hpp>

#include "harness.hpp"

namespace penstock::bench {

using Files = std::vector<std::vector<std::byte>>;

// Encodes the top left parts, of `size`, of 40 photographs; of 4 if `settings.quick`. `encode` gets RGB.
Files photographs(const Settings& settings, Size size,
                  const std::function<std::vector<std::byte>(const std::vector<std::uint8_t>&, Size)>& encode);

// Images per second of `decoder`, into memory that is used again, beside those of `plain`, which returns the pixels.
Row decoder_beside(const RowSpec& spec, const Settings& settings, const Files& files, const ImageDecoder& decoder,
                   const std::function<const std::uint8_t*(std::span<const std::byte>)>& plain);

}  // namespace penstock::bench
