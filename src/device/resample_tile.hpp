#pragma once

#include <cstddef>
#include <cstdint>

#include <penstock/extend/host_device.hpp>
#include <penstock/extend/resample_tables.hpp>

#include "data/resample_work.hpp"
#include "device/words.hpp"

namespace penstock::detail {

/// A tile of an image's window, which one block of threads makes. Of the input's columns it takes one stretch after the
/// other: it makes their rows, which lie between the two passes, and adds to each output what they have for it. All
/// sums are of integers, so their order changes no bit.
template <int channels>
class ResampleTile {
 public:
  static constexpr std::int32_t height = 8, width = AxisTable::group;
  /// What lies between the passes: `height` rows of so many bytes, whole words of whole pixels.
  static constexpr std::int32_t stretch = 1024 / (4 * channels) * (4 * channels);
  static constexpr std::int32_t words = height * (stretch / 4), pixels = height * width;

  /// Of image `image`; the tile's first pixel is (top, left) of the window.
  PENSTOCK_HOST_DEVICE ResampleTile(const ResampleWork& work, std::uint64_t image, std::int32_t top, std::int32_t left)
      : out_(work.out + image * (static_cast<std::uint64_t>(work.height) * static_cast<std::uint64_t>(work.width) *
                                 static_cast<std::uint64_t>(channels))),
        out_height_(work.height),
        out_width_(work.width),
        op_(work.ops[image]),
        top_(top),
        left_(left) {
    if (!has_pixels()) return;
    tables_ = work.tables + work.table_offsets[image];
    rows_ = &reinterpret_cast<const ResampleTables*>(tables_)->rows;
    columns_ = &reinterpret_cast<const ResampleTables*>(tables_)->columns;
    in_ = work.in +
          (work.offsets != nullptr ? static_cast<std::uint64_t>(work.offsets[image]) : image * work.image_bytes) +
          op_.first;
    const std::int32_t* const span = array<std::int32_t>(columns_->spans) + 2 * (left_ / AxisTable::group);
    low_ = span[0] * channels;
    high_ = span[1] * channels;
  }

  /// The image is one of nothing: zeros are its result.
  PENSTOCK_HOST_DEVICE bool blank() const { return op_.height == 0; }
  /// The tile begins inside the window.
  PENSTOCK_HOST_DEVICE bool has_pixels() const { return top_ < op_.height && left_ < op_.width; }
  /// The columns that it needs, in bytes of a row from the box's beginning: [low, high).
  PENSTOCK_HOST_DEVICE std::int32_t low() const { return low_; }
  PENSTOCK_HOST_DEVICE std::int32_t high() const { return high_; }

  /// Makes word `number` of `words` of the stretch that begins with byte `from` of the columns.
  PENSTOCK_HOST_DEVICE void make_word(std::int32_t number, std::int32_t from, std::uint8_t* between) const {
    constexpr std::int32_t row_words = stretch / 4;
    const std::int32_t row = number / row_words, byte = from + 4 * (number % row_words);
    if (top_ + row >= op_.height || byte >= high_) return;
    const std::int32_t y = top_ + row;
    const std::int32_t inputs = array<std::int32_t>(rows_->lengths)[y];
    const std::uint8_t* at =
        in_ + static_cast<std::uint64_t>(array<std::int32_t>(rows_->starts)[y]) * op_.stride + byte;
    const std::int32_t bytes = high_ - byte < 4 ? high_ - byte : 4;
    const std::int64_t first = std::int64_t{y} * rows_->stride;
    std::uint32_t word = 0;
    if (rows_->wide != 0) {
      const std::int32_t* const weights = array<std::int32_t>(rows_->weights) + first;
      std::int32_t sums[4] = {1 << 21, 1 << 21, 1 << 21, 1 << 21};
      for (std::int32_t k = 0; k < inputs; ++k, at += op_.stride) {
        const std::uint32_t values = bytes_at(at, bytes);
        for (int i = 0; i < 4; ++i) sums[i] += static_cast<std::int32_t>(values >> (8 * i) & 255) * weights[k];
      }
      for (int i = 0; i < 4; ++i) word |= static_cast<std::uint32_t>(sums[i] >> 22) << (8 * i);
    } else {
      const std::uint16_t* const weights = array<std::uint16_t>(rows_->weights) + first;
      const auto half = static_cast<std::uint32_t>(128 + inputs / 2);
      std::uint32_t sums[4] = {half, half, half, half};
      for (std::int32_t k = 0; k < inputs; ++k, at += op_.stride) {
        const std::uint32_t values = bytes_at(at, bytes), weight = weights[k];
        for (int i = 0; i < 4; ++i) sums[i] += (values >> (8 * i) & 255) * weight >> 8;
      }
      for (int i = 0; i < 4; ++i) word |= (sums[i] >> 8 & 255) << (8 * i);
    }
    store_word(between + row * stretch + 4 * (number % row_words), word);
  }

  /// What the columns' sums begin with.
  PENSTOCK_HOST_DEVICE std::int32_t rounding() const { return columns_->wide != 0 ? 1 << 21 : 1 << 13; }

  /// Adds to the sums of pixel `number` of `pixels` what the stretch that begins with byte `from` has for it.
  PENSTOCK_HOST_DEVICE void add(std::int32_t number, std::int32_t from, const std::uint8_t* between,
                                std::int32_t (&sums)[channels]) const {
    const std::int32_t row = number / width, x = left_ + number % width;
    if (top_ + row >= op_.height || x >= op_.width) return;
    const std::int32_t start = array<std::int32_t>(columns_->starts)[x], first = from / channels;
    const std::int32_t all = array<std::int32_t>(columns_->lengths)[x], end = first + stretch / channels - start;
    std::int32_t k = first > start ? first - start : 0;
    const std::int32_t last = all < end ? all : end;
    const std::uint8_t* at = between + row * stretch + (start + k) * channels - from;
    const std::int64_t weight = std::int64_t{x} * columns_->stride;
    if (columns_->wide != 0) {
      const std::int32_t* const weights = array<std::int32_t>(columns_->weights) + weight;
      for (; k < last; ++k, at += channels)
        for (int c = 0; c < channels; ++c) sums[c] += at[c] * weights[k];
    } else {
      const std::int16_t* const weights = array<std::int16_t>(columns_->weights) + weight;
      for (; k < last; ++k, at += channels)
        for (int c = 0; c < channels; ++c) sums[c] += at[c] * weights[k];
    }
  }

  /// Writes pixel `number` of `pixels`, whose sums are whole.
  PENSTOCK_HOST_DEVICE void write(std::int32_t number, const std::int32_t (&sums)[channels]) const {
    const std::int32_t y = top_ + number / width, x = left_ + number % width;
    if (y >= op_.height || x >= op_.width) return;
    std::uint8_t* const to = op_.transpose != 0 ? place(x, y) : place(y, x);
    const int shift = columns_->wide != 0 ? 22 : 14;
    for (int c = 0; c < channels; ++c) to[c] = static_cast<std::uint8_t>(sums[c] >> shift);
  }

  /// Writes zeros for pixel `number` of `pixels`, which counts in the result here.
  PENSTOCK_HOST_DEVICE void write_zeros(std::int32_t number) const {
    const std::int32_t y = top_ + number / width, x = left_ + number % width;
    if (y >= out_height_ || x >= out_width_) return;
    std::uint8_t* const to = place(y, x);
    for (int c = 0; c < channels; ++c) to[c] = 0;
  }

 private:
  template <class T>
  PENSTOCK_HOST_DEVICE const T* array(std::uint32_t offset) const {
    return reinterpret_cast<const T*>(tables_ + offset);
  }
  /// Four bytes from any address on, or as many as there are: no word is read in which nothing is wanted.
  PENSTOCK_HOST_DEVICE static std::uint32_t bytes_at(const std::uint8_t* at, std::int32_t bytes) {
    if (bytes == 4) return unaligned_word_at(at);
    std::uint32_t word = 0;
    for (std::int32_t i = 0; i < bytes; ++i) word |= static_cast<std::uint32_t>(at[i]) << (8 * i);
    return word;
  }
  PENSTOCK_HOST_DEVICE std::uint8_t* place(std::int32_t y, std::int32_t x) const {
    return out_ +
           (static_cast<std::uint64_t>(y) * static_cast<std::uint64_t>(out_width_) + static_cast<std::uint64_t>(x)) *
               channels;
  }

  std::uint8_t* const out_;
  const std::int32_t out_height_, out_width_;
  const ResampleOp op_;
  const std::int32_t top_, left_;
  const std::byte* tables_ = nullptr;
  const AxisTable* rows_ = nullptr;
  const AxisTable* columns_ = nullptr;
  const std::uint8_t* in_ = nullptr;
  std::int32_t low_ = 0, high_ = 0;
};

}  // namespace penstock::detail
