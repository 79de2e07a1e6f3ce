// SPDX-License-Identifier: Apache-2.0
// Decompresses the bytes of tiles.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include <penstock/sources/slide.hpp>

struct libdeflate_decompressor;
struct ZSTD_DCtx_s;

namespace penstock::slide {

/// Decompresses tiles that hold values of pixels. One thread at a time.
class Decompressor {
 public:
  /// Fills `out`. A deflate or Zstandard stream is checked to its end. What follows a stream is ignored, because some
  /// writers pad it. `codec`: deflate, lzw, packbits or zstd. @throws Error(corrupt | unsupported | out_of_memory).
  void run(SlideCodec codec, std::span<const std::byte> encoded, std::span<std::byte> out);

 private:
  void inflate(std::span<const std::byte> encoded, std::span<std::byte> out);
  void run_zstd(std::span<const std::byte> encoded, std::span<std::byte> out);

  struct Free {
    void operator()(libdeflate_decompressor* decompressor) const noexcept;
    void operator()(ZSTD_DCtx_s* context) const noexcept;
  };
  std::unique_ptr<libdeflate_decompressor, Free> deflate_;
  std::unique_ptr<ZSTD_DCtx_s, Free> zstd_;
};

}  // namespace penstock::slide
