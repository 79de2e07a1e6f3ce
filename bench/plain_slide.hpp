// SPDX-License-Identifier: Apache-2.0
// Reads a slide without this library: libtiff returns the places of its tiles, and pread reads them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include <penstock/extend/jpeg_stream_decoder.hpp>

namespace penstock::bench {

// The level 0 of an open slide. Any thread may use it.
class PlainSlide {
 public:
  explicit PlainSlide(const std::filesystem::path& file);
  PlainSlide(const PlainSlide&) = delete;
  PlainSlide& operator=(const PlainSlide&) = delete;
  ~PlainSlide();

  std::int64_t width() const noexcept { return width_; }
  std::int64_t height() const noexcept { return height_; }
  std::int64_t tile() const noexcept { return tile_; }  // side of a tile in pixels
  std::int64_t columns() const noexcept { return (width_ + tile_ - 1) / tile_; }
  std::int64_t rows() const noexcept { return (height_ + tile_ - 1) / tile_; }
  const JpegContainer& container() const noexcept { return container_; }
  // Reads a tile's stream into `buffer` and returns it.
  std::span<const std::byte> read(std::int64_t tile, std::vector<std::byte>& buffer) const;

 private:
  int fd_ = -1;
  std::int64_t width_ = 0, height_ = 0, tile_ = 0;
  std::vector<std::uint64_t> offsets_, sizes_;
  std::vector<std::byte> tables_;
  JpegContainer container_;
};

// Decodes tiles of a slide. One thread at a time may use it.
class PlainTiles {
 public:
  PlainTiles(const PlainSlide& slide, JpegOptions::Decoder which) : slide_(&slide), decoder_({.decoder = which}) {}
  // Decodes a whole tile, or a box of it.
  void decode(std::int64_t tile, const std::optional<Box>& box, std::byte* into, std::ptrdiff_t stride);
  // Decodes a square of the slide from the parts of its tiles.
  void decode_parts(std::int64_t x, std::int64_t y, std::int64_t size, std::byte* into);

 private:
  const PlainSlide* slide_;
  JpegStreamDecoder decoder_;
  std::vector<std::byte> buffer_;
};

}  // namespace penstock::bench
