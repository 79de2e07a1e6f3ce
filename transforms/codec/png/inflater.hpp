// SPDX-License-Identifier: Apache-2.0
// Inflates all pixels of a PNG at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include <libdeflate.h>

#include "chunks.hpp"

namespace penstock::png {

class Inflater {
 public:
  // Returns how many bytes inflate() needs at `joined`: 0 if all pixels are in one chunk.
  static std::uint64_t joined_bytes(const Header& header) {
    return header.first_pixels_bytes == header.bytes ? 0 : header.bytes;
  }
  // Inflates the pixels of a checked PNG to `to`, which has room for `bytes` bytes. Returns false if these are not
  // exactly what the file holds, or if zlib might find a fault where libdeflate finds none.
  // @throws Error(out_of_memory).
  bool inflate(std::span<const std::byte> encoded, const Header& header, std::byte* joined, std::byte* to,
               std::size_t bytes);

 private:
  struct Free {
    void operator()(libdeflate_decompressor* decompressor) const noexcept {
      libdeflate_free_decompressor(decompressor);
    }
  };
  std::unique_ptr<libdeflate_decompressor, Free> decompressor_;
};

}  // namespace penstock::png
