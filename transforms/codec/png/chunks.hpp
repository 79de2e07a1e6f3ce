// SPDX-License-Identifier: Apache-2.0
// The chunks of a PNG: their order and checksums, the header's values, and the few chunks that a decoder gets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <penstock/transforms/decode_png.hpp>

namespace penstock::png {

enum ColorType : std::uint8_t { gray = 0, rgb = 2, palette = 3, gray_alpha = 4, rgba = 6 };

struct Header {
  std::uint32_t width = 0, height = 0;
  std::uint8_t depth = 0;  // bits per value
  std::uint8_t color = 0;  // a ColorType
  bool interlaced = false;
  bool transparency = false;  // a tRNS chunk says which colours are transparent
  std::uint64_t bytes = 0;    // bytes of compressed pixels
  std::uint32_t longest = 0;  // length of the longest chunk of them
  // Where the data of chunks are in the file, and their lengths. Those of the first pixel chunk, if there are several.
  std::size_t palette_at = 0, palette_bytes = 0, transparency_at = 0, transparency_bytes = 0, pixels_at = 0,
              first_pixels_bytes = 0;
  std::uint32_t end_bytes = 0;  // length of the end chunk, which ought to be 0

  // Number of values, and of bits, that are stored per pixel.
  int channels() const noexcept { return color == rgb ? 3 : color == gray_alpha ? 2 : color == rgba ? 4 : 1; }
  std::uint64_t pixel_bits() const noexcept { return static_cast<std::uint64_t>(channels()) * depth; }
};

// Offset of the header chunk in the file: after the signature.
constexpr std::uint64_t header_offset = 8;

// Checks all chunks, and returns the header's values. Allocates nothing. @throws Error(corrupt | unsupported).
Header check_chunks(std::span<const std::byte> encoded);

// Returns the data of the first pixel chunk of a checked PNG.
std::span<const std::byte> first_pixels(std::span<const std::byte> encoded, const Header& header);
// Writes the data of all pixel chunks, header.bytes bytes, one after another to `to`.
void join_pixels(std::span<const std::byte> encoded, const Header& header, std::byte* to);

// Reads a checked PNG as if it had only the chunks that make pixels. An ancillary chunk can't harm a decoder that never
// sees it.
class ChunkStream {
 public:
  // If `transparency` is true, the tRNS chunk is read too.
  ChunkStream(std::span<const std::byte> encoded, const Header& header, bool transparency);
  // Reads the next `bytes` bytes. @throws Error(corrupt) if fewer bytes are left.
  void read(std::byte* to, std::size_t bytes);
  std::uint64_t offset() const noexcept { return at_; }

 private:
  bool wanted(std::span<const std::byte> chunk) const;

  std::span<const std::byte> encoded_;
  bool palette_, transparency_;
  std::size_t at_ = 0, chunk_end_;
};

}  // namespace penstock::png
