#include "promised_tile.hpp"

#include <array>
#include <cstring>

#include <penstock/transforms/image/stage.hpp>

#include "level_pixels.hpp"
#include "standalone_jpeg.hpp"

namespace penstock::slide {

namespace {

void fill(const Canvas& canvas, const SlideBox& box, const std::array<std::uint8_t, 3>& color) {
  for (std::int64_t y = box.y; y < box.y + box.height; ++y) {
    std::byte* to = canvas.at(box.x, y);
    for (std::int64_t x = 0; x < box.width; ++x, to += 3) std::memcpy(to, color.data(), 3);
  }
}

// The image of a slide that is its level made smaller, as one operation on that level, of which `window` is computed.
ImageOp resize_of(const SlideFile& slide, const SlideBox& window) {
  const auto whole = [](std::int64_t pixels) { return static_cast<std::int32_t>(pixels); };
  ImageOp op({whole(slide.level.height), whole(slide.level.width), 3});
  op.resize({whole(slide.scale.height), whole(slide.scale.width)});
  op.crop({whole(window.y), whole(window.x), whole(window.height), whole(window.width)});
  return op;
}

}  // namespace

SlideBox source_box(const SlideFile& slide, const SlideBox& box) {
  const SlideBox part = inside(slide.scale.width, slide.scale.height, box);
  if (!slide.scale.resampled || part.width == 0 || part.height == 0) return part;
  const Box needed = resize_of(slide, part).needed();
  return {needed.left, needed.top, needed.width, needed.height};
}

ImageShape PromisedTile::shape() const {
  return {static_cast<std::int32_t>(box_.height), static_cast<std::int32_t>(box_.width), 3};
}

Pixels PromisedTile::decode(const Box& box, bool verify, std::byte* into, Scratch& scratch) {
  const ImageShape whole = shape();
  const ImageShape wanted{box.height, box.width, 3};
  const std::ptrdiff_t stride = std::ptrdiff_t{box.width} * 3;
  if (into == nullptr || !(wanted == whole))
    into = scratch.allocate(static_cast<std::size_t>(stride) * static_cast<std::size_t>(box.height));
  const SlideBox asked{box_.x + box.left, box_.y + box.top, box.width, box.height};
  const Canvas canvas{into, stride, asked.x, asked.y};
  const SlideBox there = inside(slide_->scale.width, slide_->scale.height, asked);
  if (there.height < asked.height)
    fill(canvas, {asked.x, asked.y + there.height, asked.width, asked.height - there.height}, rules_->pad_color);
  if (there.width < asked.width)
    fill(canvas, {asked.x + there.width, asked.y, asked.width - there.width, there.height}, rules_->pad_color);
  const SlideBox all = source_box(*slide_, box_);
  const LevelPixels level(*readers_, *slide_, all, blocks_);
  if (slide_->scale.resampled) {
    resample(level, there, verify, canvas, scratch);
  } else {
    level.read(there, verify, rules_->pad_color, canvas, scratch);
  }
  return {reinterpret_cast<const std::uint8_t*>(into), stride, wanted};
}

void PromisedTile::resample(const LevelPixels& level, const SlideBox& there, bool verify, const Canvas& canvas,
                            Scratch& scratch) {
  if (there.width == 0 || there.height == 0) {
    if (verify) level.read({}, true, rules_->pad_color, canvas, scratch);
    return;
  }
  const ImageOp op = resize_of(*slide_, there);
  const SlideBox needed = source_box(*slide_, there);
  const std::ptrdiff_t stride = static_cast<std::ptrdiff_t>(needed.width) * 3;
  std::byte* const pixels = scratch.allocate(static_cast<std::size_t>(stride * needed.height));
  level.read(needed, verify, rules_->pad_color, {pixels, stride, needed.x, needed.y}, scratch);
  std::byte* out = canvas.at(there.x, there.y);
  const std::ptrdiff_t row = static_cast<std::ptrdiff_t>(there.width) * 3;
  if (canvas.stride != row) out = scratch.allocate(static_cast<std::size_t>(row * there.height));
  image_executor().run(
      {reinterpret_cast<const std::uint8_t*>(pixels) - needed.y * stride - needed.x * 3, stride, op.source}, op, out,
      scratch);
  if (canvas.stride == row) return;
  for (std::int64_t y = 0; y < there.height; ++y)
    std::memcpy(canvas.at(there.x, there.y + y), out + y * row, static_cast<std::size_t>(row));
}

std::span<const std::byte> PromisedTile::stored_jpeg(Scratch& scratch) {
  const Level& level = slide_->level;
  if (level.codec != SlideCodec::jpeg || slide_->scale.resampled) return {};
  const std::int64_t wide = level.tile_width, high = level.tile_height;
  if (box_.width != wide || box_.height != high || box_.x % wide != 0 || box_.y % high != 0) return {};
  if (const SlideBox there = inside(level.width, level.height, box_); there.width != wide || there.height != high)
    return {};
  const TouchedTiles tile = tiles_of(level, box_);
  const StreamFacts facts{level.tables, level.rgb, level.tile_width, level.tile_height};
  const std::span<std::byte> memory = TileReader::stored(
      readers_->tiles.open(*slide_), tile.row * level.tile_columns() + tile.column, header_room(facts), scratch);
  // What is no JPEG of this size is an error of decoding it.
  return standalone_jpeg(memory, facts, scratch).value_or(std::span<const std::byte>());
}

}  // namespace penstock::slide
