// SPDX-License-Identifier: Apache-2.0
#include "pixels/promised_tile.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include <penstock/transforms/image/stage.hpp>

#include "pixels/level_pixels.hpp"
#include "pixels/reused_scratch.hpp"
#include "pixels/standalone_jpeg.hpp"

namespace penstock::slide {

namespace {

void fill(const Canvas& canvas, const SlideBox& box, const std::array<std::uint8_t, 3>& color) {
  for (std::int64_t y = box.y; y < box.y + box.height; ++y) {
    std::byte* to = canvas.at(box.x, y);
    for (std::int64_t x = 0; x < box.width; ++x, to += 3) std::memcpy(to, color.data(), 3);
  }
}

// Returns the operation that scales a slide's level to its image. It computes only `window` of the image.
ImageOp resize_of(const SlideFile& slide, const SlideBox& window) {
  const auto whole = [](std::int64_t pixels) { return static_cast<std::int32_t>(pixels); };
  ImageOp op({whole(slide.image.level.height), whole(slide.image.level.width), 3});
  op.resize({whole(slide.image.scale.height), whole(slide.image.scale.width)});
  op.crop({whole(window.y), whole(window.x), whole(window.height), whole(window.width)});
  return op;
}

// Holds some rows of a box of a level. The rows move downwards.
class Strip {
 public:
  // Rows are read up to a multiple of `step`, or to the box's end. At most `most` rows are needed at once.
  Strip(const SlideBox& box, std::int64_t step, std::int64_t most, Scratch& scratch)
      : box_(box), step_(step), stride_(static_cast<std::ptrdiff_t>(box.width) * 3), from_(box.y), to_(box.y) {
    const std::int64_t rows = std::min(box.height, most + step);
    pixels_ = scratch.allocate(static_cast<std::size_t>(rows * stride_));
  }

  // Moves downwards until it holds rows [first, last) of the level. `read` writes the pixels of a box to a canvas.
  template <class Read>
  void move_to(std::int64_t first, std::int64_t last, const Read& read) {
    if (last <= to_) return;
    const std::int64_t kept = std::max(to_ - first, std::int64_t{0});
    if (kept != 0) std::memmove(pixels_, pixels_ + (first - from_) * stride_, static_cast<std::size_t>(kept * stride_));
    from_ = std::max(first, box_.y);
    const std::int64_t begin = from_ + kept;
    to_ = std::min((last + step_ - 1) / step_ * step_, box_.y + box_.height);
    read(SlideBox{box_.x, begin, box_.width, to_ - begin}, Canvas{pixels_, stride_, box_.x, from_});
  }
  std::int64_t end() const noexcept { return to_; }
  // Returns the pixels for an image executor. Their address is where the level's first pixel would be if the whole
  // level were in memory.
  Pixels level_pixels(const ImageShape& shape) const noexcept {
    return {reinterpret_cast<const std::uint8_t*>(pixels_) - from_ * stride_ - box_.x * 3, stride_, shape};
  }

 private:
  const SlideBox box_;
  const std::int64_t step_;
  const std::ptrdiff_t stride_;
  std::byte* pixels_;
  std::int64_t from_, to_;  // rows of the level that the strip holds
};

}  // namespace

SlideBox source_box(const SlideFile& slide, const SlideBox& box) {
  const SlideBox part = inside(slide.image.scale.width, slide.image.scale.height, box);
  if (!slide.image.scale.resampled || part.width == 0 || part.height == 0) return part;
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
  const SlideBox there = inside(slide_->image.scale.width, slide_->image.scale.height, asked);
  if (there.height < asked.height)
    fill(canvas, {asked.x, asked.y + there.height, asked.width, asked.height - there.height}, rules_->pad_color);
  if (there.width < asked.width)
    fill(canvas, {asked.x + there.width, asked.y, asked.width - there.width, there.height}, rules_->pad_color);
  const SlideBox all = source_box(*slide_, box_);
  const LevelPixels level(*readers_, *slide_, all, blocks_);
  if (slide_->image.scale.resampled) {
    resample(level, there, verify, canvas, scratch);
  } else {
    level.read(there, verify, rules_->pad_color, canvas, scratch);
  }
  return {reinterpret_cast<const std::uint8_t*>(into), stride, wanted};
}

// Resamples one row of tiles after another. So the decoded pixels stay in the processor's cache, and need little
// memory, even if the level is much larger than the image.
void PromisedTile::resample(const LevelPixels& level, const SlideBox& there, bool verify, const Canvas& canvas,
                            Scratch& scratch) {
  if (verify) level.read({}, true, rules_->pad_color, canvas, scratch);
  if (there.width == 0 || there.height == 0) return;
  const SlideBox needed = source_box(*slide_, there);
  const auto rows_of = [&](std::int64_t row) {
    return linear_taps(static_cast<std::int32_t>(slide_->image.level.height),
                       static_cast<std::int32_t>(slide_->image.scale.height), static_cast<std::int32_t>(there.y + row));
  };
  const std::int64_t step = slide_->image.level.tile_height != 0 ? slide_->image.level.tile_height : 256;
  // This is the most rows of the level that one row of the image needs. The filter is a triangle, symmetric about its
  // centre. At the level's edges, some taps are cut off, so fewer rows are needed.
  const std::int64_t taps = 2 * (slide_->image.level.height / slide_->image.scale.height + 1) + 2;
  Strip strip(needed, step, taps, scratch);
  const std::ptrdiff_t row = static_cast<std::ptrdiff_t>(there.width) * 3;
  ReusedScratch for_strip(scratch), for_rows(scratch);
  std::byte* apart = nullptr;  // used if the rows are narrower than the canvas
  if (canvas.stride != row) apart = scratch.allocate(static_cast<std::size_t>(row * there.height));
  for (std::int64_t done = 0; done < there.height;) {
    const Taps first = rows_of(done);
    strip.move_to(first.from, first.to, [&](const SlideBox& box, const Canvas& room) {
      for_strip.reset();
      level.read(box, false, rules_->pad_color, room, for_strip);
    });
    std::int64_t count = 1;
    while (done + count < there.height && rows_of(done + count).to <= strip.end()) ++count;
    const ImageOp op = resize_of(*slide_, {there.x, there.y + done, there.width, count});
    std::byte* const out = apart != nullptr ? apart + done * row : canvas.at(there.x, there.y + done);
    for_rows.reset();
    image_executor().run(strip.level_pixels(op.source), op, out, for_rows);
    done += count;
  }
  for (std::int64_t y = 0; apart != nullptr && y < there.height; ++y)
    std::memcpy(canvas.at(there.x, there.y + y), apart + y * row, static_cast<std::size_t>(row));
}

std::span<const std::byte> PromisedTile::stored_jpeg(Scratch& scratch) {
  const Level& level = slide_->image.level;
  if (level.codec != SlideCodec::jpeg || slide_->image.scale.resampled) return {};
  const std::int64_t wide = level.tile_width, high = level.tile_height;
  if (box_.width != wide || box_.height != high || box_.x % wide != 0 || box_.y % high != 0) return {};
  if (const SlideBox there = inside(level.width, level.height, box_); there.width != wide || there.height != high)
    return {};
  const TouchedTiles tile = tiles_of(level, box_);
  const StreamFacts facts{level.tables, level.rgb, level.tile_width, level.tile_height};
  const std::span<std::byte> memory = TileReader::stored(
      readers_->tiles.open(*slide_), tile.row * level.tile_columns() + tile.column, header_room(facts), scratch);
  if (memory.empty()) return {};
  // If the tile is not a JPEG of this size, decoding it reports the error.
  return standalone_jpeg(memory, facts, scratch).value_or(std::span<const std::byte>());
}

}  // namespace penstock::slide
