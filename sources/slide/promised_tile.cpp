#include "promised_tile.hpp"

#include <algorithm>
#include <cstring>

#include "standalone_jpeg.hpp"

namespace penstock::slide {

namespace {

// Where a slide's pixel stands in memory.
struct Canvas {
  std::byte* pixels;
  std::ptrdiff_t stride;
  std::int64_t left, top;  // of the first pixel, at level 0
  std::byte* at(std::int64_t x, std::int64_t y) const noexcept { return pixels + (y - top) * stride + (x - left) * 3; }
};

void fill(const Canvas& canvas, const SlideBox& box, const std::array<std::uint8_t, 3>& color) {
  for (std::int64_t y = box.y; y < box.y + box.height; ++y) {
    std::byte* to = canvas.at(box.x, y);
    for (std::int64_t x = 0; x < box.width; ++x, to += 3) std::memcpy(to, color.data(), 3);
  }
}

}  // namespace

SlideBox inside(const Directory& directory, const SlideBox& box) noexcept {
  SlideBox part = box;
  part.width = std::max(std::min(box.width, directory.width - box.x), std::int64_t{0});
  part.height = std::max(std::min(box.height, directory.height - box.y), std::int64_t{0});
  return part;
}

TouchedTiles tiles_of(const Directory& directory, const SlideBox& box) noexcept {
  const std::int64_t wide = directory.tile_width, high = directory.tile_height;
  const std::int64_t left = box.x / wide, top = box.y / high;
  return {static_cast<std::uint64_t>(left), static_cast<std::uint64_t>(top),
          static_cast<std::uint64_t>((box.x + box.width - 1) / wide - left + 1),
          static_cast<std::uint64_t>((box.y + box.height - 1) / high - top + 1)};
}

ImageShape PromisedTile::shape() const {
  return {static_cast<std::int32_t>(box_.height), static_cast<std::int32_t>(box_.width), 3};
}

Pixels PromisedTile::decode(const Box& box, bool verify, std::byte* into, Scratch& scratch) {
  const Directory& directory = slide_->directory;
  const ImageShape whole = shape();
  const ImageShape wanted{box.height, box.width, 3};
  const std::ptrdiff_t stride = std::ptrdiff_t{box.width} * 3;
  if (into == nullptr || !(wanted == whole))
    into = scratch.allocate(static_cast<std::size_t>(stride) * static_cast<std::size_t>(box.height));
  const SlideBox asked{box_.x + box.left, box_.y + box.top, box.width, box.height};
  const Canvas canvas{into, stride, asked.x, asked.y};
  const SlideBox there = inside(directory, asked);
  if (there.height < asked.height)
    fill(canvas, {asked.x, asked.y + there.height, asked.width, asked.height - there.height}, rules_->pad_color);
  if (there.width < asked.width)
    fill(canvas, {asked.x + there.width, asked.y, asked.width - there.width, there.height}, rules_->pad_color);
  // What is lent are the tiles of the whole record.
  const TouchedTiles lent = tiles_of(directory, inside(directory, box_));
  const std::int64_t wide = directory.tile_width, high = directory.tile_height;
  for (std::uint64_t row = lent.row; row < lent.row + lent.rows; ++row)
    for (std::uint64_t column = lent.column; column < lent.column + lent.columns; ++column) {
      const std::int64_t tile_x = static_cast<std::int64_t>(column) * wide,
                         tile_y = static_cast<std::int64_t>(row) * high;
      const std::int64_t left = std::max(there.x, tile_x), right = std::min(there.x + there.width, tile_x + wide);
      const std::int64_t top = std::max(there.y, tile_y), bottom = std::min(there.y + there.height, tile_y + high);
      const bool touched = left < right && top < bottom;
      if (!touched && !verify) continue;
      const std::uint64_t number = (row - lent.row) * lent.columns + column - lent.column;
      const std::span<const std::byte> block = blocks_.empty() ? std::span<const std::byte>() : blocks_[number];
      const std::uint64_t tile = row * directory.tile_columns() + column;
      if (block.empty()) {
        // To verify is to decode to the end, whatever is kept of it.
        std::byte pixel[3];
        const Box part = touched
                             ? Box{static_cast<std::int32_t>(top - tile_y), static_cast<std::int32_t>(left - tile_x),
                                   static_cast<std::int32_t>(bottom - top), static_cast<std::int32_t>(right - left)}
                             : Box{0, 0, 1, 1};
        std::byte* const to = touched ? canvas.at(left, top) : pixel;
        reader_->decode(*slide_, tile, part, verify, to, touched ? stride : 3, &scratch);
      } else if (touched) {
        const auto bytes = static_cast<std::size_t>(right - left) * 3;
        for (std::int64_t y = top; y < bottom; ++y)
          std::memcpy(canvas.at(left, y), block.data() + ((y - tile_y) * wide + left - tile_x) * 3, bytes);
      }
    }
  return {reinterpret_cast<const std::uint8_t*>(into), stride, wanted};
}

std::span<const std::byte> PromisedTile::stored_jpeg(Scratch& scratch) {
  const Directory& directory = slide_->directory;
  const std::int64_t wide = directory.tile_width, high = directory.tile_height;
  if (box_.width != wide || box_.height != high || box_.x % wide != 0 || box_.y % high != 0) return {};
  if (const SlideBox there = inside(directory, box_); there.width != wide || there.height != high) return {};
  const TouchedTiles tile = tiles_of(directory, box_);
  const std::span<const std::byte> stream =
      reader_->stored(*slide_, tile.row * directory.tile_columns() + tile.column, scratch);
  // What is no JPEG of this size is an error of decoding it.
  return standalone_jpeg(stream, {directory.tables, directory.rgb, directory.tile_width, directory.tile_height},
                         scratch)
      .value_or(std::span<const std::byte>());
}

}  // namespace penstock::slide
