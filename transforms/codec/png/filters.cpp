// SPDX-License-Identifier: Apache-2.0
#include "filters.hpp"

#include <cstdlib>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "filters.cpp"
// Must be included before Highway's headers.
#include "simd_targets.hpp"

#include <hwy/foreach_target.h>
// Must follow foreach_target.h, which includes this file once per target.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace penstock::png {
namespace HWY_NAMESPACE {

using Byte = std::uint8_t;

#if HWY_TARGET == HWY_SCALAR

template <std::size_t Pixel>
void undo_sub(const Byte* stored, std::size_t bytes, Byte* out) {
  for (std::size_t i = 0; i < bytes; ++i) out[i] = static_cast<Byte>(stored[i] + (i < Pixel ? 0 : out[i - Pixel]));
}

template <std::size_t Pixel>
void undo_average(const Byte* stored, const Byte* above, std::size_t bytes, Byte* out) {
  for (std::size_t i = 0; i < bytes; ++i)
    out[i] = static_cast<Byte>(stored[i] + ((i < Pixel ? 0 : out[i - Pixel]) + above[i]) / 2);
}

template <std::size_t Pixel>
void undo_paeth(const Byte* stored, const Byte* above, std::size_t bytes, Byte* out) {
  for (std::size_t i = 0; i < bytes; ++i) {
    const int left = i < Pixel ? 0 : out[i - Pixel], up = above[i], corner = i < Pixel ? 0 : above[i - Pixel];
    const int to_left = std::abs(up - corner), to_up = std::abs(left - corner),
              to_corner = std::abs(left + up - 2 * corner);
    const int nearest = to_left <= to_up && to_left <= to_corner ? left : to_up <= to_corner ? up : corner;
    out[i] = static_cast<Byte>(stored[i] + nearest);
  }
}

void undo_up(const Byte* stored, const Byte* above, std::size_t bytes, Byte* out) {
  for (std::size_t i = 0; i < bytes; ++i) out[i] = static_cast<Byte>(stored[i] + above[i]);
}

#else

namespace hn = hwy::HWY_NAMESPACE;

// A pixel depends on the pixel to its left, so a step makes one pixel. It works on 4 or 8 bytes. Those after the pixel
// are written too, and written again by the next step.
template <std::size_t Pixel>
using PixelTag = hn::FixedTag<Byte, Pixel <= 4 ? 4 : 8>;

template <std::size_t Pixel>
void undo_sub(const Byte* stored, std::size_t bytes, Byte* out) {
  const PixelTag<Pixel> d;
  auto left = hn::Zero(d);
  for (std::size_t i = 0; i < bytes; i += Pixel) {
    left = hn::Add(left, hn::LoadU(d, stored + i));
    hn::StoreU(left, d, out + i);
  }
}

template <std::size_t Pixel>
void undo_average(const Byte* stored, const Byte* above, std::size_t bytes, Byte* out) {
  const PixelTag<Pixel> d;
  const auto one = hn::Set(d, 1);
  auto left = hn::Zero(d);
  for (std::size_t i = 0; i < bytes; i += Pixel) {
    const auto up = hn::LoadU(d, above + i);
    // AverageRound rounds up.
    const auto average = hn::Sub(hn::AverageRound(left, up), hn::And(hn::Xor(left, up), one));
    left = hn::Add(average, hn::LoadU(d, stored + i));
    hn::StoreU(left, d, out + i);
  }
}

// Of left, up and corner, the nearest to left + up - corner is taken. With p = 3 corner - left - up: the larger of left
// and up if p is not above the smaller one; the smaller one if p is not below the larger one; else corner.
template <std::size_t Pixel>
void undo_paeth(const Byte* stored, const Byte* above, std::size_t bytes, Byte* out) {
  const PixelTag<Pixel> d;
  const hn::Rebind<std::int16_t, PixelTag<Pixel>> words;
  const auto byte = hn::Set(words, 255);
  auto left = hn::Zero(words), corner = hn::Zero(words);
  for (std::size_t i = 0; i < bytes; i += Pixel) {
    const auto up = hn::PromoteTo(words, hn::LoadU(d, above + i));
    const auto difference = hn::PromoteTo(words, hn::LoadU(d, stored + i));
    const auto three = hn::Sub(hn::Add(corner, hn::Add(corner, corner)), up);
    const auto p = hn::Sub(three, left), low = hn::Min(left, up), high = hn::Max(left, up);
    const auto above_low = hn::IfThenElse(hn::Gt(high, p), corner, low);
    const auto nearest = hn::IfThenElse(hn::Gt(p, low), above_low, high);
    corner = up;
    left = hn::And(hn::Add(nearest, difference), byte);
    hn::StoreU(hn::DemoteTo(d, left), d, out + i);
  }
}

void undo_up(const Byte* stored, const Byte* above, std::size_t bytes, Byte* out) {
  const hn::ScalableTag<Byte> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= bytes; i += lanes)
    hn::StoreU(hn::Add(hn::LoadU(d, stored + i), hn::LoadU(d, above + i)), d, out + i);
  for (; i < bytes; ++i) out[i] = static_cast<Byte>(stored[i] + above[i]);
}

#endif

template <std::size_t Pixel>
void undo(Filter filter, const Byte* stored, const Byte* above, std::size_t bytes, Byte* out) {
  switch (filter) {
    case sub_filter:
      return undo_sub<Pixel>(stored, bytes, out);
    case up_filter:
      return undo_up(stored, above, bytes, out);
    case average_filter:
      return undo_average<Pixel>(stored, above, bytes, out);
    case paeth_filter:
      return undo_paeth<Pixel>(stored, above, bytes, out);
    case no_filter:
    case filters:
      std::memcpy(out, stored, bytes);
  }
}

void undo_for_pixel(Filter filter, std::size_t pixel_bytes, const Byte* stored, const Byte* above, std::size_t bytes,
                    Byte* out) {
  switch (pixel_bytes) {
    case 1:
      return undo<1>(filter, stored, above, bytes, out);
    case 2:
      return undo<2>(filter, stored, above, bytes, out);
    case 3:
      return undo<3>(filter, stored, above, bytes, out);
    case 4:
      return undo<4>(filter, stored, above, bytes, out);
    case 6:
      return undo<6>(filter, stored, above, bytes, out);
    default:
      return undo<8>(filter, stored, above, bytes, out);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace penstock::png
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace penstock::png {

HWY_EXPORT(undo_for_pixel);
void undo_filter(Filter filter, std::size_t pixel_bytes, const std::uint8_t* stored, const std::uint8_t* above,
                 std::size_t bytes, std::uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(undo_for_pixel)(filter, pixel_bytes, stored, above, bytes, out);
}

}  // namespace penstock::png
#endif
