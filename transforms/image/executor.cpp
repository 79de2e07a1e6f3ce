// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <optional>

#include <penstock/error.hpp>
#include <penstock/extend/bfloat16.hpp>
#include <penstock/extend/half.hpp>
#include <penstock/transforms/image/stage.hpp>

#include "kernels.hpp"
#include "margin.hpp"
#include "nearest.hpp"
#include "resample.hpp"
#include "resample_tables.hpp"
#include "transpose.hpp"
#include "wide.hpp"

namespace penstock {

namespace {

using namespace image;

// Takes finished 8-bit rows in order, and writes them in the result's dtype and layout.
class Writer {
 public:
  Writer(const ImageOp& op, std::byte* out, Scratch& scratch) : op_(op), shape_(op.shape()), out_(out) {
    width_ = static_cast<std::size_t>(shape_.width);
    channels_ = static_cast<std::size_t>(shape_.channels);
    plane_ = static_cast<std::size_t>(shape_.height) * width_;
    const bool planar = op.layout == Layout::chw && channels_ > 1;
    if (planar) split_ = split_row();
    if (op.dtype == DType::f32) float_ = float_row();
    if (op.dtype == DType::f16 || op.dtype == DType::bf16) make_halves(scratch);
    if (planar && op.dtype != DType::u8)
      planes_ = reinterpret_cast<std::uint8_t*>(scratch.allocate(width_ * channels_));
  }

  // Returns the place of row `y` in the result. Returns null if the result's dtype or layout is not that of the rows
  // that put() takes.
  std::uint8_t* place(std::int32_t y) const {
    if (op_.dtype != DType::u8 || split_ != nullptr) return nullptr;
    return reinterpret_cast<std::uint8_t*>(out_) + static_cast<std::size_t>(y) * width_ * channels_;
  }

  void put(std::int32_t y, const std::uint8_t* row) const {
    const std::size_t at = static_cast<std::size_t>(y) * width_;
    if (op_.dtype == DType::u8) {
      auto* out = reinterpret_cast<std::uint8_t*>(out_);
      if (split_ != nullptr) {
        split_(row, width_, shape_.channels, out + at, plane_);
      } else if (row != out + at * channels_) {
        std::memcpy(out + at * channels_, row, width_ * channels_);
      }
    } else if (split_ == nullptr) {
      write(row, width_ * channels_, at * channels_, shape_.channels, 0);
    } else {
      split_(row, width_, shape_.channels, planes_, width_);
      for (std::size_t c = 0; c < channels_; ++c) write(planes_ + c * width_, width_, c * plane_ + at, 1, c);
    }
  }

 private:
  // Writes `count` values to the result, from element `at` on. Their channels are c, c + 1, ... c + period - 1, c, ...
  void write(const std::uint8_t* values, std::size_t count, std::size_t at, int period, std::size_t c) const {
    if (op_.dtype == DType::f32) {
      float_(values, count, period, op_.scale.data() + c, op_.bias.data() + c, reinterpret_cast<float*>(out_) + at);
      return;
    }
    auto* out = reinterpret_cast<std::uint16_t*>(out_) + at;
    if (period == 1) {
      const std::uint16_t* table = halves_ + 256 * c;
      for (std::size_t j = 0; j < count; ++j) out[j] = table[values[j]];
    } else {
      const auto step = static_cast<std::size_t>(period);
      for (std::size_t j = 0; j < count; j += step)
        for (std::size_t k = 0; k < step; ++k) out[j + k] = halves_[256 * k + values[j + k]];
    }
  }

  void make_halves(Scratch& scratch) {
    halves_ = reinterpret_cast<std::uint16_t*>(scratch.allocate(channels_ * 256 * sizeof(std::uint16_t)));
    for (std::size_t c = 0; c < channels_; ++c) {
      for (std::size_t v = 0; v < 256; ++v) {
        const float product = static_cast<float>(v) * op_.scale[c];
        const float sum = product + op_.bias[c];
        halves_[256 * c + v] = op_.dtype == DType::f16 ? to_half(sum) : to_bfloat16(sum);
      }
    }
  }

  const ImageOp& op_;
  ImageShape shape_;
  std::byte* out_;
  std::size_t width_ = 0, channels_ = 0, plane_ = 0;
  SplitRow split_ = nullptr;
  FloatRow float_ = nullptr;
  std::uint16_t* halves_ = nullptr;
  std::uint8_t* planes_ = nullptr;
};

// Makes the rows of `op.kept`, already resampled and flipped, but not transposed.
class Rows {
 public:
  Rows(const Pixels& pixels, const ImageOp& op, bool flip_x, bool flip_y, Scratch& scratch)
      : pixels_(pixels), width_(static_cast<std::size_t>(op.kept.width)), height_(op.kept.height), flip_y_(flip_y) {
    row_bytes_ = width_ * static_cast<std::size_t>(op.source.channels);
    if (op.resamples() && op.filter == Filter::nearest) {
      nearest_.emplace(pixels, op, flip_x, flip_y, scratch);
    } else if (op.resamples()) {
      resampler_.emplace(pixels, op, flip_x, flip_y, scratch);
    }
    if (!op.resamples() && flip_x) reverse_ = reverse_row();
    if (nearest_ || reverse_ != nullptr)
      room_ = reinterpret_cast<std::uint8_t*>(scratch.allocate(row_bytes_ + row_slack));
  }

  // Returns row `y`. Call it for the rows in order. `place`, if not null, is memory for this row and all rows after
  // it, side by side. The function may write some of them there now. The row that is returned may be elsewhere.
  const std::uint8_t* row(std::int32_t y, std::uint8_t* place) {
    if (resampler_) return resampler_->row(y, place);
    if (nearest_) {
      std::uint8_t* to = place != nullptr ? place : room_;
      nearest_->row(y, to);
      return to;
    }
    const std::uint8_t* from = pixels_.data + (flip_y_ ? height_ - 1 - y : y) * pixels_.stride;
    if (reverse_ == nullptr) return from;
    std::uint8_t* to = place != nullptr ? place : room_;
    reverse_(from, to, width_, pixels_.shape.channels);
    return to;
  }

 private:
  Pixels pixels_;
  std::size_t width_, row_bytes_;
  std::int32_t height_;
  bool flip_y_;
  std::optional<Resampler> resampler_;
  std::optional<NearestResampler> nearest_;
  ReverseRow reverse_ = nullptr;
  std::uint8_t* room_ = nullptr;
};

class HostImageExecutor final : public ImageExecutor {
 public:
  void run(const Pixels& pixels, const ImageOp& op, std::byte* out, Scratch& scratch) const override {
    if (op.pads()) return run_with_margin(pixels, op, out, scratch);
    if (op.source.element == DType::u16) return run_wide(pixels, op, out);
    // `op` flips after its transpose. Rows are flipped before the transpose, so the two axes are exchanged.
    Rows rows(pixels, op, op.transpose ? op.flip_y : op.flip_x, op.transpose ? op.flip_x : op.flip_y, scratch);
    const Writer writer(op, out, scratch);
    if (!op.transpose) {
      for (std::int32_t y = 0; y < op.kept.height; ++y) writer.put(y, rows.row(y, writer.place(y)));
      return;
    }
    const std::size_t channels = static_cast<std::size_t>(op.source.channels);
    const std::size_t row_bytes = static_cast<std::size_t>(op.kept.width) * channels;
    const auto height = static_cast<std::size_t>(op.kept.height);
    auto* whole = reinterpret_cast<std::uint8_t*>(scratch.allocate(height * row_bytes));
    for (std::int32_t y = 0; y < op.kept.height; ++y) {
      std::uint8_t* place = whole + static_cast<std::size_t>(y) * row_bytes;
      const std::uint8_t* row = rows.row(y, place);
      if (row != place) std::memcpy(place, row, row_bytes);
    }
    std::uint8_t* band = writer.place(0);
    if (band == nullptr) band = reinterpret_cast<std::uint8_t*>(scratch.allocate(transpose_band * height * channels));
    for (std::int32_t x = 0; x < op.kept.width; x += transpose_band) {
      const std::int32_t count = std::min(transpose_band, op.kept.width - x);
      if (writer.place(x) != nullptr) band = writer.place(x);
      transpose_columns(whole, op.kept.size(), op.source.channels, x, count, band);
      for (std::int32_t k = 0; k < count; ++k)
        writer.put(x + k, band + static_cast<std::size_t>(k) * height * channels);
    }
  }

  std::span<const std::byte> resample_tables(const ImageOp& op, Scratch& scratch) const override {
    if (op.source.element != DType::u8) return ImageExecutor::resample_tables(op, scratch);
    return make_resample_tables(op, scratch);
  }

 private:
  // Works in three steps: the operations before the margin, the margin, and the operations after it.
  void run_with_margin(const Pixels& pixels, const ImageOp& op, std::byte* out, Scratch& scratch) const {
    ImageOp before = op;
    before.margin = {};
    before.transpose = before.flip_x = before.flip_y = before.converted = false;
    before.dtype = DType::u8, before.layout = Layout::hwc;
    Pixels inner = pixels;
    if (!before.plain()) {
      inner.shape = before.shape();
      const std::size_t row = static_cast<std::size_t>(inner.shape.width) * inner.shape.pixel_bytes();
      std::byte* const room = scratch.allocate(row * static_cast<std::size_t>(inner.shape.height));
      run(pixels, before, room, scratch);
      inner.data = reinterpret_cast<const std::uint8_t*>(room);
      inner.stride = static_cast<std::ptrdiff_t>(row);
    }
    ImageOp untouched = op;
    untouched.transpose = false;
    const ImageShape shape = untouched.shape();
    ImageOp after(shape);
    after.transpose = op.transpose, after.flip_x = op.flip_x, after.flip_y = op.flip_y;
    after.converted = op.converted, after.dtype = op.dtype, after.layout = op.layout;
    after.scale = op.scale, after.bias = op.bias;
    const std::size_t row = static_cast<std::size_t>(shape.width) * shape.pixel_bytes();
    std::byte* const whole = after.plain() ? out : scratch.allocate(row * static_cast<std::size_t>(shape.height));
    write_with_margin(inner, op.margin, whole);
    if (after.plain()) return;
    run({reinterpret_cast<const std::uint8_t*>(whole), static_cast<std::ptrdiff_t>(row), shape}, after, out, scratch);
  }
};

}  // namespace

const ImageExecutor& image_executor() {
  static const HostImageExecutor executor;
  return executor;
}

}  // namespace penstock
