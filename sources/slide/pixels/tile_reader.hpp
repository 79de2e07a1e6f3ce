// SPDX-License-Identifier: Apache-2.0
// Decodes tiles of files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include <penstock/extend/image_executor.hpp>
#include <penstock/extend/image_op.hpp>
#include <penstock/extend/jpeg_stream_decoder.hpp>

#include "common/heap_trim_guard.hpp"
#include "file/open_files.hpp"
#include "file/slide_file.hpp"
#include "pixels/values/decompressor.hpp"

namespace penstock::slide {

/// Where a tile is in its file.
struct TilePlace {
  std::uint64_t offset = 0, bytes = 0;
  /// Returns whether the tile is not stored. Scanners leave out tiles of empty areas. All pixels of such a tile
  /// are white.
  bool is_left_out() const noexcept { return offset == 0 && bytes == 0; }
  friend bool operator==(const TilePlace&, const TilePlace&) = default;
};

/// A slide and its open file. `TileReader::open` has checked that the file is unchanged.
struct OpenedSlide {
  const SlideFile* slide;
  std::shared_ptr<const FileDescriptor> file;
};

/// Decodes tiles of slides' files. Any thread.
class TileReader {
 public:
  TileReader(std::size_t most_open_files, std::shared_ptr<KnownFiles> known)
      : files_(most_open_files, std::move(known)) {}

  /// Opens a slide. @throws Error(io | not_found | corrupt). The errors of this function and of all functions below
  /// name the slide's file.
  OpenedSlide open(const SlideFile& slide) { return {&slide, files_.get(slide)}; }

  /// Sets `places` to the positions of consecutive tiles, from the tile `first` on. @throws Error(io).
  static void find(const OpenedSlide& open, std::uint64_t first, std::span<TilePlace> places);

  /// Decodes a tile. Writes the pixels of `box`, which is inside of the tile, to `into`, whose rows begin `stride`
  /// bytes after each other. Checks the tile to its end if the box is the whole tile, or with `verify`. A tile that is
  /// left out is white. Takes memory from `scratch`, if that is not null. @throws Error(corrupt | io | limit_exceeded |
  /// out_of_memory | unsupported).
  void decode(const OpenedSlide& open, std::uint64_t tile, const TilePlace& place, const Box& box, bool verify,
              std::byte* into, std::ptrdiff_t stride, Scratch* scratch);

  /// Returns `room` free bytes, and after them the JPEG tile as stored in the file, with its end marker. Returns an
  /// empty span if the tile is left out. Takes memory from `scratch`. @throws Error(corrupt | io).
  static std::span<std::byte> stored(const OpenedSlide& open, std::uint64_t tile, std::size_t room, Scratch& scratch);

 private:
  // Decoders and memory, all reused. One thread at a time.
  struct TileDecoder {
    // Returns memory from `scratch`, or if that is null, the decoder's own.
    std::byte* room(std::size_t bytes, Scratch* scratch) {
      if (scratch != nullptr) return scratch->allocate(bytes);
      if (memory.size() < bytes) memory.resize(bytes);
      return memory.data();
    }
    JpegStreamDecoder decoder;
    Decompressor decompressor;
    std::vector<std::byte> memory;
    common::HeapTrimGuard heap_end;  // keeps the end of the heap of `user`
    std::thread::id user;            // the thread that used the decoder last
  };
  class Lease;
  static void check_other_planes(const OpenedSlide& open, std::uint64_t tile);
  static void decode_values(const OpenedSlide& open, std::uint64_t tile, const TilePlace& place, const Box& box,
                            bool verify, std::byte* into, std::ptrdiff_t stride, Scratch* scratch,
                            TileDecoder& decoder);

  OpenFiles files_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<TileDecoder>> idle_;
};

}  // namespace penstock::slide
