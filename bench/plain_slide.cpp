// SPDX-License-Identifier: Apache-2.0
#include "plain_slide.hpp"

#include <fcntl.h>
#include <tiffio.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>
#include <string>

namespace penstock::bench {

PlainSlide::PlainSlide(const std::filesystem::path& file) : fd_(::open(file.c_str(), O_RDONLY | O_CLOEXEC)) {
  TIFF* const tiff = TIFFOpen(file.c_str(), "r");
  if (fd_ < 0 || tiff == nullptr) throw std::runtime_error("can't open " + file.string());
  std::uint32_t width = 0, height = 0, tile = 0, bytes = 0;
  std::uint16_t photometric = 0;
  const void* tables = nullptr;
  std::uint64_t *offsets = nullptr, *sizes = nullptr;
  TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &width);
  TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &height);
  TIFFGetField(tiff, TIFFTAG_TILEWIDTH, &tile);
  TIFFGetField(tiff, TIFFTAG_PHOTOMETRIC, &photometric);
  TIFFGetField(tiff, TIFFTAG_JPEGTABLES, &bytes, &tables);
  TIFFGetField(tiff, TIFFTAG_TILEOFFSETS, &offsets);
  TIFFGetField(tiff, TIFFTAG_TILEBYTECOUNTS, &sizes);
  width_ = width;
  height_ = height;
  tile_ = tile;
  const auto count = static_cast<std::ptrdiff_t>(TIFFNumberOfTiles(tiff));
  offsets_.assign(offsets, offsets + count);
  sizes_.assign(sizes, sizes + count);
  const auto* const first = static_cast<const std::byte*>(tables);
  tables_.assign(first, first + bytes);
  TIFFClose(tiff);
  container_.colors = photometric == PHOTOMETRIC_RGB ? JpegContainer::Colors::rgb : JpegContainer::Colors::ycc;
  container_.tables = tables_;
}

PlainSlide::~PlainSlide() { ::close(fd_); }

std::span<const std::byte> PlainSlide::read(std::int64_t tile, std::vector<std::byte>& buffer) const {
  const auto at = static_cast<std::size_t>(tile);
  const auto bytes = static_cast<std::size_t>(sizes_[at]);
  if (buffer.size() < bytes) buffer.resize(bytes);
  if (::pread(fd_, buffer.data(), bytes, static_cast<off_t>(offsets_[at])) != static_cast<ssize_t>(bytes))
    throw std::runtime_error("a short read");
  return std::span(buffer).first(bytes);
}

void PlainTiles::decode(std::int64_t tile, const std::optional<Box>& box, std::byte* into, std::ptrdiff_t stride) {
  const ImageShape shape = decoder_.open(slide_->read(tile, buffer_), slide_->container());
  decoder_.decode(box.value_or(Box{0, 0, shape.height, shape.width}), into, stride);
}

void PlainTiles::decode_parts(std::int64_t x, std::int64_t y, std::int64_t size, std::byte* into) {
  const std::int64_t side = slide_->tile();
  for (std::int64_t row = y / side; row * side < y + size; ++row)
    for (std::int64_t column = x / side; column * side < x + size; ++column) {
      const std::int64_t left = std::max(x, column * side), right = std::min(x + size, (column + 1) * side);
      const std::int64_t top = std::max(y, row * side), bottom = std::min(y + size, (row + 1) * side);
      const Box box{static_cast<std::int32_t>(top - row * side), static_cast<std::int32_t>(left - column * side),
                    static_cast<std::int32_t>(bottom - top), static_cast<std::int32_t>(right - left)};
      decode(row * slide_->columns() + column, box, into + ((top - y) * size + left - x) * 3, size * 3);
    }
}

}  // namespace penstock::bench
