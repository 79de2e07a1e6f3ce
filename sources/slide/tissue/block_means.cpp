// SPDX-License-Identifier: Apache-2.0
#include "tissue/block_means.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "pixels/heap_scratch.hpp"
#include "pixels/reused_scratch.hpp"
#include "tissue/column_sums.hpp"
#include "tissue/kept_sums.hpp"

namespace penstock::slide {

namespace {

// Sums of pixels, for the rows of the result that the present row of tiles adds to.
class Sums {
 public:
  Sums(SmallPicture& picture, std::int64_t width, std::int64_t height, std::int32_t k)
      : picture_(picture),
        width_(width),
        height_(height),
        k_(k),
        stride_(static_cast<std::size_t>(picture.width) * 3) {}

  // Makes room for the sums of the level's rows before `end`.
  void grow_to(std::int64_t end) {
    const auto rows = static_cast<std::size_t>((end + k_ - 1) / k_ - first_);
    sums_.resize(std::max(sums_.size(), rows * stride_));
  }

  // Returns how many sums a box adds to.
  std::size_t count(const SlideBox& box) const noexcept {
    return row_of(box) * static_cast<std::size_t>((box.y + box.height - 1) / k_ - box.y / k_ + 1);
  }

  // Adds the pixels of a box. They are RGB, in rows without gaps. If `kept` is not empty, it must be all 0, and also
  // gets their sums.
  void add(const SlideBox& box, const std::byte* pixels, std::span<std::uint32_t> kept) {
    if (kept.empty()) return sum(box, pixels, sums_of(box), stride_);
    sum(box, pixels, kept.data(), row_of(box));
    add(box, kept);
  }
  void add(const SlideBox& box, std::span<const std::uint32_t> kept) noexcept {
    const std::size_t row = row_of(box);
    for (std::uint32_t* to = sums_of(box); !kept.empty(); kept = kept.subspan(row), to += stride_)
      for (std::size_t i = 0; i < row; ++i) to[i] += kept[i];
  }

  // Turns complete rows of the result into means. All pixels of the level's rows before `end` must have been added.
  void finish(std::int64_t end) {
    const std::int64_t last = end == height_ ? picture_.height : end / k_;
    for (std::int64_t row = first_; row < last; ++row) {
      const std::uint32_t* sum = sums_.data() + static_cast<std::size_t>(row - first_) * stride_;
      std::uint8_t* to = picture_.rgb.data() + static_cast<std::size_t>(row) * stride_;
      const std::int64_t high = std::min<std::int64_t>(k_, height_ - row * k_);
      for (std::int64_t x = 0; x < picture_.width; ++x) {
        const auto pixels = static_cast<std::uint32_t>(high * std::min<std::int64_t>(k_, width_ - x * k_));
        for (int c = 0; c < 3; ++c) *to++ = static_cast<std::uint8_t>((*sum++ + pixels / 2) / pixels);
      }
    }
    const auto done = static_cast<std::size_t>(last - first_) * stride_;
    std::copy(sums_.begin() + static_cast<std::ptrdiff_t>(done), sums_.end(), sums_.begin());
    std::fill(sums_.end() - static_cast<std::ptrdiff_t>(done), sums_.end(), 0u);
    first_ = last;
  }

 private:
  std::uint32_t* sums_of(const SlideBox& box) noexcept {
    return sums_.data() + static_cast<std::size_t>(box.y / k_ - first_) * stride_ +
           static_cast<std::size_t>(box.x / k_) * 3;
  }
  // Returns how many sums of one row of the result a box adds to.
  std::size_t row_of(const SlideBox& box) const noexcept {
    return static_cast<std::size_t>((box.x + box.width - 1) / k_ - box.x / k_ + 1) * 3;
  }

  // Adds the pixels to sums, whose rows begin `stride` elements after each other.
  void sum(const SlideBox& box, const std::byte* pixels, std::uint32_t* to, std::size_t stride) {
    constexpr std::int64_t most_rows = 257;  // the sum of this many bytes fits in 16 bits
    const auto values = static_cast<std::size_t>(box.width) * 3;
    columns_.resize(values);
    const auto* from = reinterpret_cast<const std::uint8_t*>(pixels);
    for (std::int64_t y = box.y; y < box.y + box.height;) {
      const std::int64_t row = y / k_;
      const std::int64_t count = std::min({(row + 1) * k_, box.y + box.height, y + most_rows}) - y;
      sum_columns(from, values, static_cast<std::size_t>(count), values, columns_.data());
      add_columns(box, to + static_cast<std::size_t>(row - box.y / k_) * stride);
      from += static_cast<std::size_t>(count) * values;
      y += count;
    }
  }

  // Adds `columns_`, the sums of a box's columns, to a row of sums.
  void add_columns(const SlideBox& box, std::uint32_t* pixel) const noexcept {
    const std::uint16_t* column = columns_.data();
    for (std::int64_t x = box.x; x < box.x + box.width; pixel += 3) {
      const std::int64_t end = std::min((x / k_ + 1) * k_, box.x + box.width);
      std::uint32_t red = 0, green = 0, blue = 0;
      for (; x < end; ++x, column += 3) {
        red += column[0];
        green += column[1];
        blue += column[2];
      }
      pixel[0] += red;
      pixel[1] += green;
      pixel[2] += blue;
    }
  }

  SmallPicture& picture_;
  const std::int64_t width_, height_;
  const std::int32_t k_;
  const std::size_t stride_;
  std::int64_t first_ = 0;  // row of the result that `sums_` begins with
  std::vector<std::uint32_t> sums_;
  std::vector<std::uint16_t> columns_;
};

void mark_unknown(SmallPicture& picture, const SlideBox& box, std::int32_t k) {
  picture.unknown.resize(picture.rgb.size() / 3);
  const auto width = static_cast<std::int64_t>(picture.width);
  for (std::int64_t y = box.y / k; y <= (box.y + box.height - 1) / k; ++y)
    std::fill_n(picture.unknown.begin() + y * width + box.x / k, (box.x + box.width - 1) / k - box.x / k + 1,
                std::uint8_t{1});
}

// Splits a box into the file's tiles. Returns the box itself if the size of the tiles is unknown.
std::vector<SlideBox> tiles_in(const Level& level, const SlideBox& box) {
  if (level.tile_width == 0 || level.tile_height == 0) return {box};
  std::vector<SlideBox> parts;
  const auto next = [](std::int64_t at, std::int64_t tile, std::int64_t end) {
    return std::min((at / tile + 1) * tile, end);
  };
  for (std::int64_t y = box.y, below; y < box.y + box.height; y = below) {
    below = next(y, level.tile_height, box.y + box.height);
    for (std::int64_t x = box.x, after; x < box.x + box.width; x = after) {
      after = next(x, level.tile_width, box.x + box.width);
      parts.push_back({x, y, after - x, below - y});
    }
  }
  return parts;
}

}  // namespace

SmallPicture read_block_means(LevelReaders& readers, const SlideFile& slide, std::int32_t k) {
  const Level& level = slide.image.level;
  SmallPicture picture;
  picture.width = static_cast<std::int32_t>((level.width + k - 1) / k);
  picture.height = static_cast<std::int32_t>((level.height + k - 1) / k);
  picture.rgb.resize(static_cast<std::size_t>(picture.width) * static_cast<std::size_t>(picture.height) * 3);
  // Each request to OpenSlide has a cost of its own, so boxes that OpenSlide reads are larger than tiles.
  const bool tiles = level.codec != SlideCodec::openslide;
  const std::int64_t wide = tiles ? level.tile_width : 1024, high = tiles ? level.tile_height : 256;
  KeptSums kept(readers, slide, k);
  Sums sums(picture, level.width, level.height, k);
  std::vector<std::byte> pixels;
  HeapScratch memory;
  ReusedScratch scratch(memory);
  const auto add = [&](const SlideBox& box) {
    constexpr std::array<std::uint8_t, 3> white{255, 255, 255};
    if (const auto found = kept.find(box); !found.empty()) {
      sums.add(box, found);
      return true;
    }
    scratch.reset();
    pixels.resize(static_cast<std::size_t>(box.width * box.height) * 3);
    try {
      LevelPixels(readers, slide, box, {})
          .read(box, false, white, {pixels.data(), box.width * 3, box.x, box.y}, scratch);
    } catch (const Error& failed) {
      if (!failed.sample_scoped() || failed.code() == Errc::io) throw;
      if (picture.why_unknown.empty()) picture.why_unknown = failed.cause();
      return false;
    }
    sums.add(box, pixels.data(), kept.keep(box, sums.count(box)));
    return true;
  };
  for (std::int64_t y = 0; y < level.height; y += high) {
    const std::int64_t end = std::min(y + high, level.height);
    sums.grow_to(end);
    for (std::int64_t x = 0; x < level.width; x += wide) {
      const SlideBox box{x, y, std::min(wide, level.width - x), end - y};
      if (add(box)) continue;
      const std::vector<SlideBox> parts = tiles_in(level, box);
      for (const SlideBox& part : parts)
        if (parts.size() == 1 || !add(part)) mark_unknown(picture, part, k);
    }
    sums.finish(end);
  }
  for (std::size_t i = 0; i < picture.unknown.size(); ++i)
    if (picture.unknown[i] != 0)
      std::fill_n(picture.rgb.begin() + static_cast<std::ptrdiff_t>(3 * i), 3, std::uint8_t{255});
  return picture;
}

}  // namespace penstock::slide
