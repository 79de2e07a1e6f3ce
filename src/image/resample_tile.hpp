// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <penstock/extend/host_device.hpp>
#include <penstock/extend/resample_tables.hpp>

#include "image/resample_work.hpp"
#include "image/word_at.hpp"

namespace penstock::detail {

/// A tile of the window that an image's ResampleOp keeps. A block of `threads` threads makes the tile. Functions with a
/// parameter `thread` do only that thread's part of the work. The tile takes the input's columns in stretches. For each
/// stretch, `make_rows` does the first pass and keeps its rows in memory. Then `add` adds these rows to the sums of the
/// second pass. All sums are sums of integers, so the order of the additions does not change the result.
template <int channels>
class ResampleTile {
 public:
  static constexpr std::int32_t height = 16, width = AxisTable::group, threads = 256;
  /// The number of pixels that a thread makes. They are in one column, `threads / width` rows apart.
  static constexpr std::int32_t rows_each = height * width / threads;
  /// The memory between the passes has rows of `stretch` pixels. Each pixel takes one word, whatever its number of
  /// channels; the word's unused bytes may have any value. There are `zeros` words of 0 before the first row, between
  /// rows, and after the last row.
  static constexpr std::int32_t stretch = 256, zeros = 4;
  static constexpr std::int32_t row_cells = zeros + stretch, cells = height * row_cells + zeros;
  using Sums = std::uint32_t[rows_each][channels];

  /// A column of the window, in which a thread makes pixels: its position `x`, and its `length` inputs from `start` on.
  struct Column {
    std::int32_t x, start, length;
  };

  /// Makes the tile of image `image` whose first pixel is pixel (top, left) of the window, before a transpose.
  PENSTOCK_HOST_DEVICE ResampleTile(const ResampleWork& work, std::uint64_t image, std::int32_t top, std::int32_t left)
      : out_(work.out + image * (static_cast<std::uint64_t>(work.height) * static_cast<std::uint64_t>(work.width) *
                                 static_cast<std::uint64_t>(channels))),
        out_height_(work.height),
        out_width_(work.width),
        op_(work.ops[image]),
        left_(left),
        top_(top) {
    if (!has_pixels()) return;
    tables_ = work.tables + work.table_offsets[image];
    rows_ = reinterpret_cast<const ResampleTables*>(tables_)->rows;
    columns_ = reinterpret_cast<const ResampleTables*>(tables_)->columns;
    in_ = work.in +
          (work.offsets != nullptr ? static_cast<std::uint64_t>(work.offsets[image]) : image * work.image_bytes) +
          op_.first;
    const std::int32_t* const span = array<std::int32_t>(columns_.spans) + 2 * (left_ / AxisTable::group);
    low_ = span[0];
    high_ = span[1];
  }

  /// Moves to the tile below.
  PENSTOCK_HOST_DEVICE void move_down() { top_ += height; }

  /// Returns whether there is no image; the result is zeros then.
  PENSTOCK_HOST_DEVICE bool blank() const { return op_.height == 0; }
  /// Returns whether the tile begins inside the window.
  PENSTOCK_HOST_DEVICE bool has_pixels() const { return top_ < op_.height && left_ < op_.width; }
  /// Return the range [low, high) of the box's columns that the tile needs.
  PENSTOCK_HOST_DEVICE std::int32_t low() const { return low_; }
  PENSTOCK_HOST_DEVICE std::int32_t high() const { return high_; }

  /// Writes the zeros around the rows. One call per thread is enough, because nothing overwrites the zeros.
  PENSTOCK_HOST_DEVICE static void write_zeros_around(std::int32_t thread, std::uint32_t* between) {
    for (std::int32_t i = thread; i < (height + 1) * zeros; i += threads)
      between[i / zeros * row_cells + i % zeros] = 0;
  }

  /// Makes the rows of the first pass for the stretch that begins with column `from`.
  PENSTOCK_HOST_DEVICE void make_rows(std::int32_t thread, std::int32_t from, std::uint32_t* between) const {
    const std::int32_t rows = op_.height - top_ < height ? op_.height - top_ : height;
    const std::int32_t columns = high_ - from < stretch ? high_ - from : stretch;
    const std::uint32_t groups = static_cast<std::uint32_t>(columns + 3) / 4;
    // For each i below 65536 / groups, i * reciprocal >> 16 is exactly i / groups.
    static_assert(height * (stretch / 4) <= 65536 / (stretch / 4));
    const std::uint32_t reciprocal = 65535 / groups + 1, all = static_cast<std::uint32_t>(rows) * groups;
    for (auto i = static_cast<std::uint32_t>(thread); i < all; i += threads) {
      const std::uint32_t row = i * reciprocal >> 16, group = i - row * groups;
      make_group(top_ + static_cast<std::int32_t>(row), static_cast<std::uint32_t>(from) + 4 * group,
                 between + row * row_cells + zeros + 4 * group);
    }
  }

  PENSTOCK_HOST_DEVICE Column column_of(std::int32_t thread) const {
    const std::int32_t x = left_ + thread % width;
    if (!has_pixels() || x >= op_.width) return {x, 0, 0};
    return {x, array<std::int32_t>(columns_.starts)[x], array<std::int32_t>(columns_.lengths)[x]};
  }

  /// Returns the initial value of the columns' sums.
  PENSTOCK_HOST_DEVICE std::uint32_t rounding() const { return columns_.wide != 0 ? 1 << 21 : 1 << 13; }

  /// Adds to a thread's sums the rows of the stretch that begins with column `from`.
  PENSTOCK_HOST_DEVICE void add(std::int32_t thread, const Column& column, std::int32_t from,
                                const std::uint32_t* between, Sums& sums) const {
    const std::int32_t skipped = from - column.start, left = skipped + stretch;
    const std::int32_t last = column.length < left ? column.length : left;
    // A pair begins with an even input, so that its two weights are in one word. If an input of a pair is outside the
    // stretch, it is read as 0. If an input is after the column's last input, its weight is 0.
    std::int32_t k = skipped > 0 ? skipped & ~1 : 0;
    if (k >= last) return;
    const std::uint32_t* at = between + thread / width * row_cells + zeros + (k - skipped);
    const std::int32_t first = column.x * columns_.stride;
    if (columns_.wide != 0) {
      const std::uint32_t* weights = array<std::uint32_t>(columns_.weights) + first + k;
      PENSTOCK_ROLLED
      for (; k < last; ++k, ++at, ++weights) {
        const std::uint32_t weight = *weights;
        for (int j = 0; j < rows_each; ++j) {
          const std::uint32_t pixel = at[j * (threads / width) * row_cells];
          for (int c = 0; c < channels; ++c) sums[j][c] += (pixel >> (8 * c) & 255) * weight;
        }
      }
    } else {
      const std::uint32_t* pairs = array<std::uint32_t>(columns_.weights) + (first + k) / 2;
      PENSTOCK_ROLLED
      for (; k < last; k += 2, at += 2, ++pairs) {
        const std::uint32_t pair = *pairs;
        for (int j = 0; j < rows_each; ++j) {
          const std::uint32_t* const pixels = at + j * (threads / width) * row_cells;
          const std::uint32_t low = low_pairs(pixels[0], pixels[1]), high = high_pairs(pixels[0], pixels[1]);
          sums[j][0] = plus_low_pair(pair, low, sums[j][0]);
          if constexpr (channels > 1) sums[j][1] = plus_high_pair(pair, low, sums[j][1]);
          if constexpr (channels > 2) sums[j][2] = plus_low_pair(pair, high, sums[j][2]);
          if constexpr (channels > 3) sums[j][3] = plus_high_pair(pair, high, sums[j][3]);
        }
      }
    }
  }

  /// Writes a thread's pixels from complete sums.
  PENSTOCK_HOST_DEVICE void write(std::int32_t thread, const Sums& sums) const {
    const std::int32_t x = left_ + thread % width, y = top_ + thread / width;
    if (x >= op_.width) return;
    const int shift = columns_.wide != 0 ? 22 : 14;
    const bool transpose = op_.transpose != 0;
    const std::int32_t row = transpose ? channels : out_width_ * channels;
    const std::int32_t column = transpose ? out_width_ * channels : channels;
    std::uint8_t* to = out_ + std::int64_t{row} * y + std::int64_t{column} * x;
    for (int j = 0; j < rows_each; ++j, to += std::int64_t{row} * (threads / width)) {
      if (y + j * (threads / width) >= op_.height) return;
      for (int c = 0; c < channels; ++c) to[c] = static_cast<std::uint8_t>(sums[j][c] >> shift);
    }
  }

  /// Writes zeros for a thread's pixels, if the tile is blank. Then there is no window, and the tile's position is a
  /// position in the result.
  PENSTOCK_HOST_DEVICE void write_zeros(std::int32_t thread) const {
    const std::int32_t x = left_ + thread % width;
    if (x >= out_width_) return;
    PENSTOCK_ROLLED
    for (std::int32_t y = top_ + thread / width; y < top_ + height && y < out_height_; y += threads / width)
      for (int c = 0; c < channels; ++c)
        out_[(static_cast<std::uint64_t>(y) * static_cast<std::uint64_t>(out_width_) + static_cast<std::uint64_t>(x)) *
                 channels +
             static_cast<std::uint64_t>(c)] = 0;
  }

 private:
  template <class T>
  PENSTOCK_HOST_DEVICE const T* array(std::uint32_t offset) const {
    return reinterpret_cast<const T*>(tables_ + offset);
  }

  /// Makes four pixels of row y from column `column` of the box on, or fewer if the box ends earlier.
  PENSTOCK_HOST_DEVICE void make_group(std::int32_t y, std::uint32_t column, std::uint32_t* to) const {
    const auto start = static_cast<std::uint32_t>(array<std::int32_t>(rows_.starts)[y]);
    const std::int32_t inputs = array<std::int32_t>(rows_.lengths)[y];
    const std::uint8_t* at = in_ + start * op_.stride + column * channels;
    if (op_.columns < 4)
      return make_narrow_group(at, (op_.columns - static_cast<std::int32_t>(column)) * channels, y, inputs, to);
    // No word that lies wholly after the end of the box may be read. So the last four pixels are read from an earlier
    // column, and `back` of them are skipped.
    const std::uint32_t end = static_cast<std::uint32_t>(op_.columns), back = column + 4 > end ? column + 4 - end : 0;
    at -= back * channels;
    std::uint32_t words[channels], pixels[4];
    if (rows_.wide != 0)
      sum_wide(at, array<std::uint32_t>(rows_.weights) + y * rows_.stride, inputs, words);
    else
      sum(at, array<std::uint16_t>(rows_.weights) + y * rows_.stride, inputs, words);
    for (int i = 0; i < 4; ++i) {
      constexpr int last = channels - 1;
      const int word = i * channels / 4, past = i * channels % 4;
      pixels[i] =
          shifted_right(words[word], words[word < last ? word + 1 : last], static_cast<std::uint32_t>(8 * past));
    }
    if (back == 0) return store_words(to, pixels);
    for (std::uint32_t i = 1; i < 4; ++i)
      if (i >= back) to[i - back] = pixels[i];
  }

  /// Sums the weighted inputs of four pixels. A word has the sums of two bytes: the weights add up to at most 65536, so
  /// no sum exceeds 16 bits. A word also has room for two products of a byte and 8 bits of a weight. So a weight is
  /// multiplied in two steps: (v * w) >> 8 is v * (w >> 8) + (v * (w & 255) >> 8).
  PENSTOCK_HOST_DEVICE void sum(const std::uint8_t* at, const std::uint16_t* weights, std::int32_t inputs,
                                std::uint32_t (&words)[channels]) const {
    const std::uint32_t half = static_cast<std::uint32_t>(128 + inputs / 2) * 0x10001;
    std::uint32_t even[channels], odd[channels];
    for (int i = 0; i < channels; ++i) even[i] = odd[i] = half;
    PENSTOCK_ROLLED
    for (std::int32_t left = inputs; left > 0; --left, at += op_.stride, ++weights) {
      unaligned_words_at(at, words);
      const std::uint32_t weight = *weights, low = weight & 255, high = weight >> 8;
      for (int i = 0; i < channels; ++i) {
        const std::uint32_t e = even_bytes(words[i]), o = odd_bytes(words[i]);
        even[i] += e * high + odd_bytes(e * low);
        odd[i] += o * high + odd_bytes(o * low);
      }
    }
    for (int i = 0; i < channels; ++i) words[i] = joined_odd_bytes(even[i], odd[i]);
  }

  /// Like `sum`, for wide weights. Works word by word, because four sums at a time need few registers.
  PENSTOCK_HOST_DEVICE void sum_wide(const std::uint8_t* at, const std::uint32_t* weights, std::int32_t inputs,
                                     std::uint32_t (&words)[channels]) const {
    for (int i = 0; i < channels; ++i) {
      std::uint32_t sums[4] = {1 << 21, 1 << 21, 1 << 21, 1 << 21};
      const std::uint8_t* input = at + 4 * i;
      const std::uint32_t* weight = weights;
      PENSTOCK_ROLLED
      for (std::int32_t left = inputs; left > 0; --left, input += op_.stride, ++weight) {
        const std::uint32_t word = unaligned_word_at(input);
        for (int b = 0; b < 4; ++b) sums[b] += (word >> (8 * b) & 255) * *weight;
      }
      words[i] = sums[0] >> 22 | sums[1] >> 22 << 8 | sums[2] >> 22 << 16 | sums[3] >> 22 << 24;
    }
  }

  /// Makes the pixels of `make_group` byte by byte, for boxes of fewer than four columns.
  PENSTOCK_HOST_DEVICE void make_narrow_group(const std::uint8_t* at, std::int32_t bytes, std::int32_t y,
                                              std::int32_t inputs, std::uint32_t* to) const {
    const bool wide = rows_.wide != 0;
    PENSTOCK_ROLLED
    for (std::int32_t byte = 0; byte < bytes; ++byte) {
      const std::uint8_t* input = at + byte;
      std::uint32_t sum = wide ? 1 << 21 : static_cast<std::uint32_t>(128 + inputs / 2);
      PENSTOCK_ROLLED
      for (std::int32_t k = y * rows_.stride; k < y * rows_.stride + inputs; ++k, input += op_.stride)
        sum += wide ? *input * array<std::uint32_t>(rows_.weights)[k]
                    : *input * array<std::uint16_t>(rows_.weights)[k] >> 8;
      const std::uint32_t value = sum >> (wide ? 22 : 8) << (8 * (byte % channels));
      to[byte / channels] = byte % channels == 0 ? value : to[byte / channels] | value;
    }
  }

  std::uint8_t* const out_;
  const std::int32_t out_height_, out_width_;
  const ResampleOp op_;
  const std::int32_t left_;
  std::int32_t top_;
  const std::byte* tables_ = nullptr;
  AxisTable rows_, columns_;
  const std::uint8_t* in_ = nullptr;
  std::int32_t low_ = 0, high_ = 0;
};

}  // namespace penstock::detail
