// Tiles of files, decoded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include <penstock/extend/image_executor.hpp>
#include <penstock/extend/image_op.hpp>
#include <penstock/extend/jpeg_stream_decoder.hpp>

#include "open_files.hpp"
#include "slide_file.hpp"

namespace penstock::slide {

/// Any thread.
class TileReader {
 public:
  explicit TileReader(std::size_t most_open_files) : files_(most_open_files) {}

  /// Writes the pixels of `box`, inside the tile, to `into`, whose rows begin `stride` bytes after each other. Where
  /// the box is the whole tile, or with `verify`, the tile is checked to its end. Memory comes from `scratch`, where
  /// that is not null. @throws Error(corrupt | io | not_found | limit_exceeded | unsupported) with the slide's file.
  void decode(const SlideFile& slide, std::uint64_t tile, const Box& box, bool verify, std::byte* into,
              std::ptrdiff_t stride, Scratch* scratch);

  /// The tile as it stands in the file, in memory of `scratch`. @throws as `decode`.
  std::span<const std::byte> stored(const SlideFile& slide, std::uint64_t tile, Scratch& scratch);

 private:
  // A decoder, and memory for what it decodes. For one thread at a time.
  struct Worker {
    JpegStreamDecoder decoder;
    std::vector<std::byte> encoded;
  };
  class Lease;

  OpenFiles files_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Worker>> idle_;
};

}  // namespace penstock::slide
