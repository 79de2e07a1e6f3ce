// SPDX-License-Identifier: Apache-2.0
// What a WebP file says about itself, before its pixels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace penstock::webp {

struct Container {
  std::span<const std::byte> file;  // up to the declared end
  std::int32_t height = 0, width = 0;
  bool alpha = false;
  bool lossless = false;
};

// Checks the chunks and the declared size. @throws like ImageDecoding::open.
Container read_container(std::span<const std::byte> encoded, std::uint64_t max_pixels);

}  // namespace penstock::webp
