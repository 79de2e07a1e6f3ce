#include "promised_tile.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "standalone_jpeg.hpp"

namespace penstock::slide {

namespace {

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
  decode_tiles(there, verify, canvas, scratch);
  return {reinterpret_cast<const std::uint8_t*>(into), stride, wanted};
}

// The part of each tile that is in `there`. To verify is to decode all tiles of the image to their ends, whatever is
// kept of them.
void PromisedTile::decode_tiles(const SlideBox& there, bool verify, const Canvas& canvas, Scratch& scratch) {
  const Directory& directory = slide_->directory;
  const TouchedTiles all = tiles_of(directory, inside(directory, box_));
  const std::int64_t wide = directory.tile_width, high = directory.tile_height;
  std::optional<OpenSlide> open;
  std::array<TilePlace, 16> places;
  for (std::uint64_t row = 0; row < all.rows; ++row) {
    const std::int64_t tile_y = static_cast<std::int64_t>(all.row + row) * high;
    const std::int64_t top = std::max(there.y, tile_y), bottom = std::min(there.y + there.height, tile_y + high);
    if (top >= bottom && !verify) continue;
    std::uint64_t known_from = 0, known_to = 0;  // columns whose tiles' places are known
    for (std::uint64_t column = 0; column < all.columns; ++column) {
      const std::int64_t tile_x = static_cast<std::int64_t>(all.column + column) * wide;
      const std::int64_t left = std::max(there.x, tile_x), right = std::min(there.x + there.width, tile_x + wide);
      const bool touched = left < right && top < bottom;
      if (!touched && !verify) continue;
      const std::span<const std::byte> block =
          blocks_.empty() ? std::span<const std::byte>() : blocks_[row * all.columns + column];
      if (!block.empty()) {
        const auto bytes = static_cast<std::size_t>(right - left) * 3;
        for (std::int64_t y = top; touched && y < bottom; ++y)
          std::memcpy(canvas.at(left, y), block.data() + ((y - tile_y) * wide + left - tile_x) * 3, bytes);
        continue;
      }
      const std::uint64_t tile = (all.row + row) * directory.tile_columns() + all.column + column;
      if (!open) open = reader_->open(*slide_);
      if (column >= known_to) {
        const std::uint64_t some = std::min<std::uint64_t>(places.size(), all.columns - column);
        TileReader::find(*open, tile, std::span(places).first(static_cast<std::size_t>(some)));
        known_from = column;
        known_to = column + some;
      }
      const TilePlace& place = places[static_cast<std::size_t>(column - known_from)];
      std::byte pixel[3];
      const Box part = touched ? Box{static_cast<std::int32_t>(top - tile_y), static_cast<std::int32_t>(left - tile_x),
                                     static_cast<std::int32_t>(bottom - top), static_cast<std::int32_t>(right - left)}
                               : Box{0, 0, 1, 1};
      reader_->decode(*open, tile, place, part, verify, touched ? canvas.at(left, top) : pixel,
                      touched ? canvas.stride : 3, &scratch);
    }
  }
}

std::span<const std::byte> PromisedTile::stored_jpeg(Scratch& scratch) {
  const Directory& directory = slide_->directory;
  const std::int64_t wide = directory.tile_width, high = directory.tile_height;
  if (box_.width != wide || box_.height != high || box_.x % wide != 0 || box_.y % high != 0) return {};
  if (const SlideBox there = inside(directory, box_); there.width != wide || there.height != high) return {};
  const TouchedTiles tile = tiles_of(directory, box_);
  const StreamFacts facts{directory.tables, directory.rgb, directory.tile_width, directory.tile_height};
  const std::span<std::byte> memory = TileReader::stored(
      reader_->open(*slide_), tile.row * directory.tile_columns() + tile.column, header_room(facts), scratch);
  // What is no JPEG of this size is an error of decoding it.
  return standalone_jpeg(memory, facts, scratch).value_or(std::span<const std::byte>());
}

}  // namespace penstock::slide
