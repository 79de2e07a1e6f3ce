// SPDX-License-Identifier: Apache-2.0
#include "row_maker.hpp"

#include <algorithm>
#include <cstring>

namespace penstock::jpeg::baseline {

namespace {

int divided_up(int a, int b) { return (a + b - 1) / b; }

}  // namespace

Upsampling::Upsampling(const Frame& frame, bool luma_only) {
  if (frame.components == 1 || luma_only) return;
  across = frame.chroma_across;
  down = frame.chroma_down;
  smooth = frame.size > 1 && (across == 2 ? divided_up(frame.width, 2) > 2 : down == 2);
}

PixelRowMaker::PixelRowMaker(const Frame& frame, const Planes& planes, const Upsampling& upsampling, bool gray,
                             int planes_left, int left, int width, Scratch& scratch)
    : frame_(frame), planes_(planes), upsampling_(upsampling), gray_(gray), rows_(pixel_rows()), width_(width) {
  // If a value of chroma is two pixels wide, it is for an even pixel and the odd pixel after it. So rows are then made
  // from an even pixel on.
  left_out_ = upsampling.across == 2 ? left & 1 : 0;
  luma_offset_ = left - left_out_ - planes_left;
  chroma_offset_ = luma_offset_ / upsampling.across;
  chroma_left_ = (left - left_out_) / upsampling.across;
  if (upsampling.across == 1 && upsampling.down == 1) return;
  const auto values = static_cast<std::size_t>(width + 4 * row_margin);
  for (int c = 0; c < 2; ++c) {
    sums_[c] = reinterpret_cast<std::uint16_t*>(scratch.allocate(values * sizeof(std::uint16_t))) + row_margin;
    values_[c] = reinterpret_cast<std::uint8_t*>(sums_[c]);
  }
}

PixelRowMaker::Nearest PixelRowMaker::nearest(int y) const noexcept {
  const int near = y / 2, last = divided_up(frame_.height, 2) - 1;
  return {near, std::clamp(y % 2 == 0 ? near - 1 : near + 1, 0, last)};
}

void PixelRowMaker::make(int y, std::uint8_t* pixels) const {
  const std::uint8_t* const luma = planes_.row(0, y) + luma_offset_;
  if (gray_) {
    std::memcpy(pixels, luma, static_cast<std::size_t>(width_));
    return;
  }
  const PixelRow row{pixels, left_out_, width_};
  if (frame_.colors == Colors::gray) return rows_.gray(luma, row);
  if (frame_.colors == Colors::rgb) return rows_.rgb(luma, chroma(1, y), chroma(2, y), row);
  if (upsampling_.across == 1 && upsampling_.down == 1) return rows_.ycc(luma, chroma(1, y), chroma(2, y), row);
  if (!upsampling_.smooth) return make_repeated(y, row);
  if (upsampling_.across == 2) return make_half_across(y, row);
  make_between_rows(y, row);
}

void PixelRowMaker::make_half_across(int y, const PixelRow& row) const {
  const int count = divided_up(left_out_ + width_, 2), all = divided_up(frame_.width, 2);
  for (int c = 0; c < 2; ++c) {
    std::uint16_t* const sums = sums_[c];
    // Makes one more value on each side.
    if (upsampling_.down == 2) {
      const Nearest of = nearest(y);
      rows_.sum_rows(chroma(c + 1, of.near) - 1, chroma(c + 1, of.far) - 1, count + 2, sums - 1);
    } else {
      rows_.widen(chroma(c + 1, y) - 1, count + 2, sums - 1);
    }
    // Beyond the image's edges, its outermost values are repeated.
    if (chroma_left_ == 0) sums[-1] = sums[0];
    if (chroma_left_ + count == all) sums[count] = sums[count - 1];
  }
  const std::uint8_t* const luma = planes_.row(0, y) + luma_offset_;
  (upsampling_.down == 2 ? rows_.ycc_half : rows_.ycc_half_across)(luma, sums_[0], sums_[1], row);
}

void PixelRowMaker::make_between_rows(int y, const PixelRow& row) const {
  const Nearest of = nearest(y);
  for (int c = 0; c < 2; ++c)
    rows_.between_rows(chroma(c + 1, of.near), chroma(c + 1, of.far), y % 2 == 0 ? 1 : 2, width_, values_[c]);
  rows_.ycc(planes_.row(0, y) + luma_offset_, values_[0], values_[1], row);
}

void PixelRowMaker::make_repeated(int y, const PixelRow& row) const {
  for (int c = 0; c < 2; ++c) {
    const std::uint8_t* const from = chroma(c + 1, y / upsampling_.down);
    for (int x = 0; x < left_out_ + width_; ++x) values_[c][x] = from[x / upsampling_.across];
  }
  rows_.ycc(planes_.row(0, y) + luma_offset_, values_[0], values_[1], row);
}

}  // namespace penstock::jpeg::baseline
