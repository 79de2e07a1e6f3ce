// SPDX-License-Identifier: Apache-2.0
#include "resample.hpp"

#include <algorithm>
#include <cstring>

namespace penstock::image {

Resampler::Resampler(const Pixels& pixels, const ImageOp& op, bool flip_x, bool flip_y, Scratch& scratch)
    : stride_(pixels.stride), channels_(op.source.channels) {
  const AxisRequest vertical = rows_of(op, flip_y), across = columns_of(op, flip_x);
  narrow_y_ = axis_taps(vertical) <= narrow_taps;
  narrow_x_ = axis_taps(across) <= narrow_taps;
  scale_x_ = !across.is_identity();
  y_ = make_axis(vertical, narrow_y_ ? Weights::vertical : Weights::wide, scratch);
  x_ = make_axis(across, narrow_x_ ? Weights::horizontal : Weights::wide, scratch);
  source_ = pixels.data + static_cast<std::ptrdiff_t>(x_.low) * channels_;
  bytes_ = static_cast<std::size_t>(x_.high - x_.low) * static_cast<std::size_t>(channels_);
  if (narrow_y_) {
    vertical_ = vertical_row();
  } else {
    wide_vertical_ = wide_vertical_row();
    sums_ = reinterpret_cast<std::int32_t*>(scratch.allocate(bytes_ * sizeof(std::int32_t)));
  }
  for (std::uint8_t*& between : between_) {
    between = reinterpret_cast<std::uint8_t*>(scratch.allocate(bytes_ + row_slack));
    std::memset(between + bytes_, 0, row_slack);
  }
  row_bytes_ = static_cast<std::size_t>(x_.count) * static_cast<std::size_t>(channels_);
  for (std::uint8_t*& room : room_) room = reinterpret_cast<std::uint8_t*>(scratch.allocate(row_bytes_ + row_slack));
  if (!scale_x_) {
    if (op.mirror_x != flip_x) reverse_ = reverse_row();
  } else if (narrow_x_) {
    horizontal_ = horizontal();
    plan_.axis = &x_;
    plan_.channels = channels_;
    plan_.tables = scratch.allocate(horizontal_.table_bytes(x_, channels_));
    horizontal_.prepare(plan_);
  }
}

// Makes row `y` of the vertical pass, with only the columns in use.
const std::uint8_t* Resampler::blended(std::int32_t y, std::uint8_t* room) {
  const std::uint8_t* first = source_ + y_.start[y] * stride_;
  const int taps = y_.length[y];
  if (narrow_y_) {
    vertical_(first, stride_, y_.weights_of<std::uint16_t>(y), taps, room, bytes_);
  } else {
    wide_vertical_(first, stride_, y_.weights_of<std::int32_t>(y), taps, sums_, room, bytes_);
  }
  return room;
}

const std::uint8_t* Resampler::row(std::int32_t y, std::uint8_t* place) {
  if (scale_x_ && narrow_x_) {
    if (y % 2 == 0) make_two(y, place);
    return pair_.out[y % 2];
  }
  std::uint8_t* const to = place != nullptr ? place : room_[0];
  if (!scale_x_ && reverse_ == nullptr) return blended(y, to);
  const std::uint8_t* from = blended(y, between_[0]);
  if (reverse_ != nullptr) {
    reverse_(from, to, static_cast<std::size_t>(x_.count), channels_);
  } else {
    horizontal_wide(from, to);
  }
  return to;
}

void Resampler::make_two(std::int32_t y, std::uint8_t* place) {
  const auto before = static_cast<std::ptrdiff_t>(x_.low) * channels_;
  pair_.from[0] = pair_.from[1] = blended(y, between_[0]) - before;
  if (y + 1 < y_.count) pair_.from[1] = blended(y + 1, between_[1]) - before;
  // A kernel writes up to `row_slack` bytes after a row. So two rows are made in place only if the rows after them,
  // which overwrite these bytes later, have at least that size.
  const bool in_place =
      place != nullptr && static_cast<std::size_t>(std::max(0, y_.count - y - 2)) * row_bytes_ >= row_slack;
  pair_.out[0] = in_place ? place : room_[0];
  pair_.out[1] = in_place ? place + row_bytes_ : room_[1];
  horizontal_.run(plan_, pair_);
}

void Resampler::horizontal_wide(const std::uint8_t* row, std::uint8_t* out) const {
  for (std::int32_t i = 0; i < x_.count; ++i) {
    const std::int32_t* weights = x_.weights_of<std::int32_t>(i);
    const std::uint8_t* first = row + static_cast<std::ptrdiff_t>(x_.start[i] - x_.low) * channels_;
    for (int c = 0; c < channels_; ++c) {
      const std::uint8_t* at = first + c;
      std::int32_t sum = 1 << 21;
      for (std::int32_t k = 0; k < x_.length[i]; ++k, at += channels_) sum += *at * weights[k];
      *out++ = static_cast<std::uint8_t>(sum >> 22);
    }
  }
}

}  // namespace penstock::image
