// Tiles of files, decoded.
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

#include "common/heap_end.hpp"
#include "file/open_files.hpp"
#include "file/slide_file.hpp"

namespace penstock::slide {

/// Where a tile lies in its file.
struct TilePlace {
  std::uint64_t offset = 0, bytes = 0;
  /// It is not stored, by which a scanner says that nothing is there: all its pixels are white.
  bool is_left_out() const noexcept { return offset == 0 && bytes == 0; }
  friend bool operator==(const TilePlace&, const TilePlace&) = default;
};

/// A slide with its file open, which was unchanged when it was opened.
struct OpenedSlide {
  const SlideFile* slide;
  std::shared_ptr<const FileDescriptor> file;
};

/// Any thread.
class TileReader {
 public:
  TileReader(std::size_t most_open_files, std::shared_ptr<KnownFiles> known)
      : files_(most_open_files, std::move(known)) {}

  /// @throws Error(io | not_found) with the slide's file, here and in all that follows.
  OpenedSlide open(const SlideFile& slide) { return {&slide, files_.get(slide)}; }

  /// Where tiles lie that follow each other. @throws Error(io).
  static void find(const OpenedSlide& open, std::uint64_t first, std::span<TilePlace> places);

  /// Writes the pixels of `box`, inside the tile, to `into`, whose rows begin `stride` bytes after each other. Where
  /// the box is the whole tile, or with `verify`, the tile is checked to its end. One that is left out is white. Memory
  /// comes from `scratch`, where that is not null. @throws Error(corrupt | io | limit_exceeded | unsupported).
  void decode(const OpenedSlide& open, std::uint64_t tile, const TilePlace& place, const Box& box, bool verify,
              std::byte* into, std::ptrdiff_t stride, Scratch* scratch);

  /// The JPEG tile as it stands in the file, with its end's marker, after `room` bytes that are left free, in memory of
  /// `scratch`; empty where it is left out. @throws Error(corrupt | io).
  static std::span<std::byte> stored(const OpenedSlide& open, std::uint64_t tile, std::size_t room, Scratch& scratch);

 private:
  // A decoder, and memory for what it decodes. For one thread at a time.
  struct Worker {
    JpegStreamDecoder decoder;
    std::vector<std::byte> encoded;
    common::HeapEnd heap_end;  // what stands at the end of the user's heap
    std::thread::id user;      // thread that had it last
  };
  class Lease;

  OpenFiles files_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Worker>> idle_;
};

}  // namespace penstock::slide
