// SPDX-License-Identifier: Apache-2.0
// Pictures that are encoded in several formats, and a decoder of Penstock beside a plain one.
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

struct Picture {
  std::vector<std::uint8_t> pixels;  // [size.height, size.width, channels]
  Size size;
  int channels;
};

// Returns the top left parts, of `size`, of 40 photographs in RGB; of 4 if `settings.quick`.
std::vector<Picture> photographs(const Settings& settings, Size size);

Files encoded_all(const std::vector<Picture>& pictures,
                  const std::function<std::vector<std::byte>(const Picture&)>& encode);

// Images per second of `decoder`, into memory that is used again, beside those of `plain`, which returns the pixels.
Row decoder_beside(const RowSpec& spec, const Settings& settings, const Files& files, const ImageDecoder& decoder,
                   const std::function<const std::uint8_t*(std::span<const std::byte>)>& plain);

}  // namespace penstock::bench
