// SPDX-License-Identifier: Apache-2.0
// Writes and decodes tiles of deflate without this library: with libtiff and libdeflate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

#include <libdeflate.h>

#include "plain_slide.hpp"

namespace penstock::bench {

// Writes a slide's level 0 as RGB tiles of deflate with predictor 2.
void write_deflate_slide(const PlainSlide& slide, const std::filesystem::path& file);

// Decodes such tiles. One thread at a time may use it.
class PlainDeflate {
 public:
  // `stream`: RGB pixels, side * side. `into`: room for these pixels.
  void decode(std::span<const std::byte> stream, std::int64_t side, std::byte* into) const;

 private:
  std::shared_ptr<libdeflate_decompressor> decompressor_{libdeflate_alloc_decompressor(), libdeflate_free_decompressor};
};

}  // namespace penstock::bench
