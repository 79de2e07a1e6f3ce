// SPDX-License-Identifier: Apache-2.0
#include "pixels/tile_reader.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <utility>

#include <penstock/extend/file_descriptor.hpp>

#include "file/byte_order.hpp"
#include "file/errors.hpp"
#include "pixels/jpeg2000_tile.hpp"
#include "pixels/values/value_tile.hpp"

namespace penstock::slide {

namespace {

// Describes a tile of the file, for messages.
std::string words_of_tile(const SlideFile& slide, std::uint64_t tile) {
  const Level& level = slide.image.level;
  const auto x = static_cast<std::int64_t>(tile % level.tile_columns()) * level.tile_width;
  const auto y = static_cast<std::int64_t>(tile / level.tile_columns()) * level.tile_height;
  return "the tile at x " + std::to_string(x) + ", y " + std::to_string(y) + " of level " +
         std::to_string(slide.image.level_number);
}

Error tile_error(const SlideFile& slide, std::uint64_t tile, Errc code, const std::string& why) {
  return error_in(slide.path, code, words_of_tile(slide, tile) + ": " + why);
}

void read_exactly(const SlideFile& slide, std::uint64_t tile, int descriptor, std::span<std::byte> out,
                  std::uint64_t offset) {
  if (read_whole(descriptor, out, offset) == out.size()) return;
  if (errno != 0) throw system_error(errno, "reading " + words_of_tile(slide, tile), slide.path);
  throw tile_error(slide, tile, Errc::io, "the file became shorter while it was read");
}

void check(const SlideFile& slide, std::uint64_t tile, const TilePlace& place) {
  if (place.bytes == 0) throw tile_error(slide, tile, Errc::corrupt, "it is empty: the file says it has 0 bytes");
  if (place.bytes > slide.sample.bytes || place.offset > slide.sample.bytes - place.bytes)
    throw tile_error(slide, tile, Errc::corrupt, "it lies beyond the end of the file, which may be cut off");
  // Even noise at the best quality takes less than twice the bytes of its pixels.
  const std::uint64_t most = 4 * std::uint64_t{slide.image.level.pixel_bytes()} + 65536;
  if (place.bytes > most)
    throw tile_error(slide, tile, Errc::corrupt,
                     "the file says it has " + std::to_string(place.bytes) + " bytes, more than its pixels could take");
}

constexpr std::array end_marker{std::byte{0xff}, std::byte{0xd9}};

// Returns a JPEG stream with its end marker. `memory` is the stream, then room for the marker. Some writers leave the
// marker out. Adds a missing marker, so that every reader accepts the tile. Other writers add a byte after the marker,
// to make the number of bytes even. Returns such a stream as it is.
std::span<std::byte> with_end(std::span<std::byte> memory) {
  const std::span<std::byte> stream = memory.first(memory.size() - end_marker.size());
  const auto ends = [](std::span<const std::byte> bytes) {
    return bytes.size() >= end_marker.size() && std::ranges::equal(bytes.last(end_marker.size()), end_marker);
  };
  if (ends(stream) || (!stream.empty() && ends(stream.first(stream.size() - 1)))) return stream;
  std::ranges::copy(end_marker, memory.last(end_marker.size()).begin());
  return memory;
}

// Tiles of a finer level, along a side, that show a part of a coarser level's tile.
struct TileRange {
  std::uint64_t first = 0, count = 0;
};
TileRange tiles_below(std::uint64_t tile, std::int64_t tile_side, std::int64_t side, std::int64_t finer_tile_side,
                      std::int64_t finer_side) {
  const std::int64_t begin = static_cast<std::int64_t>(tile) * tile_side, end = std::min(begin + tile_side, side);
  // Sides are rounded to whole pixels, so the ratio of the sides differs a little from the intended whole number,
  // `times`. A position may be wrong by `off` pixels. The range is narrowed by `slack`, so that it doesn't reach a
  // neighbouring tile by mistake.
  const std::int64_t times = (2 * finer_side + side) / (2 * side), off = std::abs(finer_side - times * side);
  const std::int64_t slack = off < 2 * times ? off : 0;
  const std::int64_t finer_begin = (begin * finer_side + side - 1) / side + slack;
  const std::int64_t finer_end = end * finer_side / side - slack;
  if (finer_end <= finer_begin) return {};
  const std::int64_t first = finer_begin / finer_tile_side;
  return {static_cast<std::uint64_t>(first), static_cast<std::uint64_t>((finer_end - 1) / finer_tile_side - first + 1)};
}

// Checks a tile that is left out. If a finer level has pixels of it, the tile is lost, not glass.
void check_glass(const OpenedSlide& open, std::uint64_t tile) {
  const SlideFile& slide = *open.slide;
  const Level& level = slide.image.level;
  for (const TileSizes& finer : level.finer) {
    const TileRange across =
        tiles_below(tile % level.tile_columns(), level.tile_width, level.width, finer.tile_width, finer.width);
    const TileRange down =
        tiles_below(tile / level.tile_columns(), level.tile_height, level.height, finer.tile_height, finer.height);
    const auto columns = static_cast<std::uint64_t>((finer.width + finer.tile_width - 1) / finer.tile_width);
    const auto rows = static_cast<std::uint64_t>((finer.height + finer.tile_height - 1) / finer.tile_height);
    const std::size_t each = finer.bytes.element_bytes;
    std::vector<std::byte> sizes(static_cast<std::size_t>(across.count) * each);
    for (std::uint32_t plane = 0; plane < finer.planes; ++plane)
      for (std::uint64_t row = down.first; row < down.first + down.count; ++row) {
        const std::uint64_t first = (plane * rows + row) * columns + across.first;
        read_exactly(slide, tile, open.file->get(), sizes, finer.bytes.offset + first * each);
        if (std::ranges::any_of(sizes, [](std::byte byte) { return byte != std::byte{0}; }))
          throw tile_error(slide, tile, Errc::corrupt, "the file leaves it out, though a finer level has pixels of it");
      }
  }
}

// With `verify`, also checks the bytes after the last pixel of `box`. Damage in earlier bytes may show only in these.
// If `box` is the whole tile, checks them without `verify` too, because this then costs nothing.
void decode_jpeg(JpegStreamDecoder& decoder, std::span<const std::byte> encoded, const Level& level, const Box& box,
                 bool verify, std::byte* into, std::ptrdiff_t stride, Scratch* scratch) {
  JpegContainer container;
  container.colors = level.rgb ? JpegContainer::Colors::rgb : JpegContainer::Colors::ycc;
  container.tables = level.tables;
  const ImageShape shape = decoder.open(encoded, container);
  if (shape.width != level.tile_width || shape.height != level.tile_height)
    throw Error(Errc::corrupt, "its JPEG has " + std::to_string(shape.width) + "x" + std::to_string(shape.height) +
                                   " pixels, not " + std::to_string(level.tile_width) + "x" +
                                   std::to_string(level.tile_height));
  verify = verify || (box.width == shape.width && box.height == shape.height);
  if (scratch != nullptr) {
    decoder.decode(box, into, stride, verify, *scratch);
  } else {
    decoder.decode(box, into, stride, verify);
  }
}

}  // namespace

// Holds a decoder as long as the lease exists. Prefers the decoder that this thread had before, because that decoder's
// memory is in the core's cache. If each thread took the decoder that was used last, threads would keep swapping
// decoders.
class TileReader::Lease {
 public:
  explicit Lease(TileReader& reader) : reader_(reader) {
    {
      const std::lock_guard lock(reader.mutex_);
      auto& idle = reader.idle_;
      if (!idle.empty()) {
        const auto own = std::ranges::find(idle, std::this_thread::get_id(), [](const auto& w) { return w->user; });
        if (own != idle.end()) std::swap(*own, idle.back());
        tile_decoder_ = std::move(idle.back());
        idle.pop_back();
      }
    }
    if (tile_decoder_ == nullptr) tile_decoder_ = std::make_unique<TileDecoder>();
    if (const std::thread::id user = std::this_thread::get_id(); tile_decoder_->user != user) {
      tile_decoder_->user = user;
      tile_decoder_->heap_end = {};
    }
  }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  ~Lease() {
    // A tile of 8,192 x 8,192 pixels may have needed half a gigabyte.
    constexpr std::size_t most_kept = std::size_t{8} << 20;
    if (tile_decoder_->memory.size() > most_kept) tile_decoder_->memory = {};
    const std::lock_guard lock(reader_.mutex_);
    try {
      reader_.idle_.push_back(std::move(tile_decoder_));
    } catch (const std::bad_alloc&) {  // the decoder is destroyed
    }
  }
  TileDecoder* operator->() const noexcept { return tile_decoder_.get(); }
  TileDecoder& operator*() const noexcept { return *tile_decoder_; }

 private:
  TileReader& reader_;
  std::unique_ptr<TileDecoder> tile_decoder_;
};

void TileReader::find(const OpenedSlide& open, std::uint64_t first, std::span<TilePlace> places) {
  const SlideFile& slide = *open.slide;
  constexpr std::size_t together = 16;
  std::array<std::byte, together * 8> bytes{};
  const auto read = [&](const StoredArray& array, std::span<const std::byte> kept, std::span<TilePlace> some,
                        auto member) {
    const std::size_t each = array.element_bytes;
    std::span<const std::byte> numbers;
    if (kept.empty()) {
      const auto read_now = std::span(bytes).first(some.size() * each);
      read_exactly(slide, first, open.file->get(), read_now, array.offset + first * each);
      numbers = read_now;
    } else {
      numbers = kept.subspan(static_cast<std::size_t>(first) * each, some.size() * each);
    }
    for (std::size_t i = 0; i < some.size(); ++i)
      some[i].*member = number_of(numbers.subspan(i * each, each), slide.image.level.big_endian);
  };
  while (!places.empty()) {
    const auto some = places.first(std::min(places.size(), together));
    read(slide.image.level.tile_offsets, slide.image.kept_offsets, some, &TilePlace::offset);
    read(slide.image.level.tile_bytes, slide.image.kept_sizes, some, &TilePlace::bytes);
    places = places.subspan(some.size());
    first += some.size();
  }
}

// Checks a tile whose first plane is left out. Its other planes must be left out, too.
void TileReader::check_other_planes(const OpenedSlide& open, std::uint64_t tile) {
  const Level& level = open.slide->image.level;
  for (std::size_t p = 1; p < level.values.planes_read(); ++p) {
    TilePlace place;
    find(open, tile + p * level.tiles(), {&place, 1});
    if (!place.is_left_out())
      throw tile_error(*open.slide, tile, Errc::corrupt, "the file leaves out one of its colours");
  }
}

// `place`: that of the first plane.
void TileReader::decode_values(const OpenedSlide& open, std::uint64_t tile, const TilePlace& place, const Box& box,
                               bool verify, std::byte* into, std::ptrdiff_t stride, Scratch* scratch,
                               TileDecoder& decoder) {
  const SlideFile& slide = *open.slide;
  const Level& level = slide.image.level;
  std::array<TilePlace, StoredValues::most_samples> places{place};
  const std::span planes = std::span(places).first(level.values.planes_read());
  std::size_t room = value_tile_memory(level, box, stride);
  for (std::size_t p = 0; p < planes.size(); ++p) {
    if (p != 0) {
      find(open, tile + p * level.tiles(), planes.subspan(p, 1));
      check(slide, tile, planes[p]);
    }
    if (level.codec == SlideCodec::uncompressed) {
      if (planes[p].bytes < level.plane_bytes())
        throw tile_error(slide, tile, Errc::corrupt,
                         "the file says it has " + std::to_string(planes[p].bytes) + " bytes; its pixels have " +
                             std::to_string(level.plane_bytes()));
      planes[p].offset += static_cast<std::uint64_t>(box.top) * level.plane_row_bytes();
      planes[p].bytes = static_cast<std::uint64_t>(box.height) * level.plane_row_bytes();
    }
    room += static_cast<std::size_t>(planes[p].bytes);
  }
  std::byte* memory = decoder.room(room, scratch);
  std::array<std::span<std::byte>, StoredValues::most_samples> stored;
  for (std::size_t p = 0; p < planes.size(); ++p) {
    stored[p] = {memory, static_cast<std::size_t>(planes[p].bytes)};
    read_exactly(slide, tile, open.file->get(), stored[p], planes[p].offset);
    memory += stored[p].size();
  }
  decode_value_tile(level, std::span(stored).first(planes.size()), decoder.decompressor, box, verify, into, stride,
                    memory);
}

void TileReader::decode(const OpenedSlide& open, std::uint64_t tile, const TilePlace& place, const Box& box,
                        bool verify, std::byte* into, std::ptrdiff_t stride, Scratch* scratch) {
  const SlideFile& slide = *open.slide;
  const Level& level = slide.image.level;
  if (place.is_left_out()) {
    check_other_planes(open, tile);
    check_glass(open, tile);
    constexpr std::uint8_t white = 255;
    for (std::int32_t y = 0; y < box.height; ++y)
      std::memset(into + y * stride, white, static_cast<std::size_t>(box.width) * 3);
    return;
  }
  check(slide, tile, place);
  const Lease tile_decoder(*this);
  try {
    if (level.holds_values())
      return decode_values(open, tile, place, box, verify, into, stride, scratch, *tile_decoder);
    const auto bytes = static_cast<std::size_t>(place.bytes);
    const std::size_t room = bytes + end_marker.size();
    const std::span<std::byte> memory{tile_decoder->room(room, scratch), room};
    const std::span<std::byte> encoded = memory.first(bytes);
    read_exactly(slide, tile, open.file->get(), encoded, place.offset);
    if (level.codec == SlideCodec::jpeg2000) {
      decode_jpeg2000(encoded, {level.tile_width, level.tile_height, level.rgb}, box, verify, into, stride,
                      tile_decoder->heap_end);
    } else {
      decode_jpeg(tile_decoder->decoder, with_end(memory), level, box, verify, into, stride, scratch);
    }
  } catch (const Error& failed) {
    // An error that has a file names the tile already.
    if (!failed.sample_scoped() || !failed.file().empty()) throw;
    std::string why = failed.cause();
    if (failed.offset()) why += " (" + std::to_string(*failed.offset()) + " bytes into it)";
    throw tile_error(slide, tile, failed.code(), why);
  }
}

std::span<std::byte> TileReader::stored(const OpenedSlide& open, std::uint64_t tile, std::size_t room,
                                        Scratch& scratch) {
  TilePlace place;
  find(open, tile, {&place, 1});
  if (place.is_left_out()) {
    check_glass(open, tile);
    return {};
  }
  check(*open.slide, tile, place);
  const std::size_t size = room + static_cast<std::size_t>(place.bytes), most = size + end_marker.size();
  const std::span<std::byte> memory{scratch.allocate(most), most};
  read_exactly(*open.slide, tile, open.file->get(), memory.first(size).subspan(room), place.offset);
  return memory.first(room + with_end(memory.subspan(room)).size());
}

}  // namespace penstock::slide
