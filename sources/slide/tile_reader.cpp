#include "tile_reader.hpp"

#include <array>
#include <cerrno>
#include <string>
#include <utility>

#include <penstock/extend/file_descriptor.hpp>

#include "byte_order.hpp"
#include "errors.hpp"

namespace penstock::slide {

namespace {

// Words for people: which tile of the file it is.
std::string words_of_tile(const SlideFile& slide, std::uint64_t tile) {
  const Directory& directory = slide.directory;
  const auto x = static_cast<std::int64_t>(tile % directory.tile_columns()) * directory.tile_width;
  const auto y = static_cast<std::int64_t>(tile / directory.tile_columns()) * directory.tile_height;
  return "the tile at x " + std::to_string(x) + ", y " + std::to_string(y) + " of level 0";
}

Error tile_error(const SlideFile& slide, std::uint64_t tile, Errc code, const std::string& why) {
  return error_in(slide.path, code, words_of_tile(slide, tile) + ": " + why);
}

struct TilePlace {
  std::uint64_t offset = 0, bytes = 0;
};

void read_exactly(const SlideFile& slide, std::uint64_t tile, int descriptor, std::span<std::byte> out,
                  std::uint64_t offset) {
  if (read_whole(descriptor, out, offset) == out.size()) return;
  if (errno != 0) throw system_error_in(slide.path, errno, "reading " + words_of_tile(slide, tile));
  throw tile_error(slide, tile, Errc::io, "the file became shorter while it was read");
}

TilePlace place_of_tile(const SlideFile& slide, std::uint64_t tile, int descriptor) {
  const auto number = [&](const StoredArray& array) {
    std::array<std::byte, 8> bytes{};
    const auto element = std::span(bytes).first(array.element_bytes);
    read_exactly(slide, tile, descriptor, element, array.offset + tile * array.element_bytes);
    return number_of(element, slide.directory.big_endian);
  };
  const TilePlace place{number(slide.directory.tile_offsets), number(slide.directory.tile_bytes)};
  if (place.bytes == 0) throw tile_error(slide, tile, Errc::corrupt, "it is empty: the file says it has 0 bytes");
  if (place.bytes > slide.mark.bytes || place.offset > slide.mark.bytes - place.bytes)
    throw tile_error(slide, tile, Errc::corrupt, "it lies beyond the end of the file, which may be cut off");
  // JPEG of noise at the best quality takes less than twice its pixels.
  const std::uint64_t most = 4 * std::uint64_t{slide.directory.pixel_bytes()} + 65536;
  if (place.bytes > most)
    throw tile_error(slide, tile, Errc::corrupt,
                     "the file says it has " + std::to_string(place.bytes) + " bytes, more than its pixels could take");
  return place;
}

}  // namespace

// A worker for as long as this lives: the one that was used last, whose memory is warm.
class TileReader::Lease {
 public:
  explicit Lease(TileReader& reader) : reader_(reader) {
    {
      const std::lock_guard lock(reader.mutex_);
      if (!reader.idle_.empty()) {
        worker_ = std::move(reader.idle_.back());
        reader.idle_.pop_back();
      }
    }
    if (worker_ == nullptr) worker_ = std::make_unique<Worker>();
  }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  ~Lease() {
    const std::lock_guard lock(reader_.mutex_);
    try {
      reader_.idle_.push_back(std::move(worker_));
    } catch (const std::bad_alloc&) {  // then it goes
    }
  }
  Worker* operator->() const noexcept { return worker_.get(); }

 private:
  TileReader& reader_;
  std::unique_ptr<Worker> worker_;
};

void TileReader::decode(const SlideFile& slide, std::uint64_t tile, const Box& box, bool verify, std::byte* into,
                        std::ptrdiff_t stride, Scratch* scratch) {
  const Directory& directory = slide.directory;
  const Lease worker(*this);
  std::span<std::byte> encoded;
  {
    const auto file = files_.get(slide.number, slide.path, slide.mark);
    const TilePlace place = place_of_tile(slide, tile, file->get());
    const auto bytes = static_cast<std::size_t>(place.bytes);
    if (scratch != nullptr) {
      encoded = {scratch->allocate(bytes), bytes};
    } else {
      if (worker->encoded.size() < bytes) worker->encoded.resize(bytes);
      encoded = std::span(worker->encoded).first(bytes);
    }
    read_exactly(slide, tile, file->get(), encoded, place.offset);
  }
  try {
    JpegContainer container;
    container.colors = directory.rgb ? JpegContainer::Colors::rgb : JpegContainer::Colors::ycc;
    container.tables = directory.tables;
    const ImageShape shape = worker->decoder.open(encoded, container);
    if (shape.width != directory.tile_width || shape.height != directory.tile_height)
      throw Error(Errc::corrupt, "its JPEG has " + std::to_string(shape.width) + "x" + std::to_string(shape.height) +
                                     " pixels, not " + std::to_string(directory.tile_width) + "x" +
                                     std::to_string(directory.tile_height));
    const bool check = verify || box.size() == shape.size();
    if (scratch != nullptr) {
      worker->decoder.decode(box, into, stride, check, *scratch);
    } else {
      worker->decoder.decode(box, into, stride, check);
    }
  } catch (const Error& failed) {
    if (!failed.sample_scoped()) throw;
    std::string why = failed.cause();
    if (failed.offset()) why += " (" + std::to_string(*failed.offset()) + " bytes into it)";
    throw tile_error(slide, tile, failed.code(), why);
  }
}

std::span<const std::byte> TileReader::stored(const SlideFile& slide, std::uint64_t tile, Scratch& scratch) {
  const auto file = files_.get(slide.number, slide.path, slide.mark);
  const TilePlace place = place_of_tile(slide, tile, file->get());
  const std::span<std::byte> bytes{scratch.allocate(static_cast<std::size_t>(place.bytes)),
                                   static_cast<std::size_t>(place.bytes)};
  read_exactly(slide, tile, file->get(), bytes, place.offset);
  return bytes;
}

}  // namespace penstock::slide
