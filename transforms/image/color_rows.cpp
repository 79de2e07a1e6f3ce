// SPDX-License-Identifier: Apache-2.0
#include "color_rows.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "color_rows.cpp"
#define HWY_WANT_AVX3_DL
#include <hwy/foreach_target.h>
// Must follow foreach_target.h, which includes this file once per target.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace penstock::image {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using Ints = hn::RebindToSigned<Floats>;
using Levels = hn::Rebind<std::uint8_t, Floats>;

HWY_INLINE hn::Vec<Ints> load_ints(const std::uint8_t* at) { return hn::PromoteTo(Ints(), hn::LoadU(Levels(), at)); }
HWY_INLINE hn::Vec<Floats> load(const std::uint8_t* at) { return hn::ConvertTo(Floats(), load_ints(at)); }

// Stores values, rounded to 8 bits. Halves are rounded up.
HWY_INLINE void store(hn::Vec<Floats> v, std::uint8_t* at) {
  const Floats d;
  const auto level = hn::Min(hn::Max(v, hn::Zero(d)), hn::Set(d, 255.0f));
  hn::StoreU(hn::DemoteTo(Levels(), hn::ConvertTo(Ints(), hn::Add(level, hn::Set(d, 0.5f)))), Levels(), at);
}

HWY_INLINE hn::Vec<Floats> blended(hn::Vec<Floats> v, hn::Vec<Floats> toward, hn::Vec<Floats> factor) {
  return hn::Add(toward, hn::Mul(factor, hn::Sub(v, toward)));
}

HWY_INLINE hn::Vec<Ints> gray(hn::Vec<Ints> r, hn::Vec<Ints> g, hn::Vec<Ints> b) {
  const Ints d;
  const auto sum = hn::Add(hn::Add(hn::Mul(r, hn::Set(d, 19595)), hn::Mul(g, hn::Set(d, 38470))),
                           hn::Add(hn::Mul(b, hn::Set(d, 7471)), hn::Set(d, 32768)));
  return hn::ShiftRight<16>(sum);
}

void blend(std::uint8_t* values, std::size_t count, float factor, float toward) {
  const Floats d;
  const auto f = hn::Set(d, factor), t = hn::Set(d, toward);
  for (std::size_t i = 0; i < count; i += hn::Lanes(d)) store(blended(load(values + i), t, f), values + i);
}

void blend_gray(const ColorPlanes& planes, std::size_t count, float factor) {
  const Floats d;
  const auto f = hn::Set(d, factor);
  for (std::size_t i = 0; i < count; i += hn::Lanes(d)) {
    const auto r = load_ints(planes.r + i), g = load_ints(planes.g + i), b = load_ints(planes.b + i);
    const auto toward = hn::ConvertTo(d, gray(r, g, b));
    store(blended(hn::ConvertTo(d, r), toward, f), planes.r + i);
    store(blended(hn::ConvertTo(d, g), toward, f), planes.g + i);
    store(blended(hn::ConvertTo(d, b), toward, f), planes.b + i);
  }
}

// Returns R, G or B. For these channels, `ahead` is 5, 3 or 1: sixths of the circle that are added to the hue.
HWY_INLINE hn::Vec<Floats> channel(hn::Vec<Floats> hue, float ahead, hn::Vec<Floats> most, hn::Vec<Floats> range) {
  const Floats d;
  const auto six = hn::Set(d, 6.0f);
  auto k = hn::Add(hue, hn::Set(d, ahead));
  k = hn::IfThenElse(hn::Ge(k, six), hn::Sub(k, six), k);
  const auto part = hn::Min(k, hn::Sub(hn::Set(d, 4.0f), k));
  const auto share = hn::Min(hn::Max(part, hn::Zero(d)), hn::Set(d, 1.0f));
  return hn::Sub(most, hn::Mul(range, share));
}

void turn_hue(const ColorPlanes& planes, std::size_t count, float sixths) {
  const Floats d;
  const auto zero = hn::Zero(d), one = hn::Set(d, 1.0f), six = hn::Set(d, 6.0f), turn = hn::Set(d, sixths);
  for (std::size_t i = 0; i < count; i += hn::Lanes(d)) {
    const auto r = load(planes.r + i), g = load(planes.g + i), b = load(planes.b + i);
    const auto most = hn::Max(r, hn::Max(g, b)), range = hn::Sub(most, hn::Min(r, hn::Min(g, b)));
    const auto red = hn::Eq(most, r), green = hn::Eq(most, g);
    const auto between = hn::IfThenElse(red, hn::Sub(g, b), hn::IfThenElse(green, hn::Sub(b, r), hn::Sub(r, g)));
    const auto begin = hn::IfThenElse(red, zero, hn::IfThenElse(green, hn::Set(d, 2.0f), hn::Set(d, 4.0f)));
    auto hue = hn::Add(hn::Div(between, hn::IfThenElse(hn::Eq(range, zero), one, range)), hn::Add(begin, turn));
    hue = hn::IfThenElse(hn::Lt(hue, zero), hn::Add(hue, six), hue);
    hue = hn::IfThenElse(hn::Ge(hue, six), hn::Sub(hue, six), hue);
    store(channel(hue, 5.0f, most, range), planes.r + i);
    store(channel(hue, 3.0f, most, range), planes.g + i);
    store(channel(hue, 1.0f, most, range), planes.b + i);
  }
}

std::uint64_t sum_gray(const ColorPlanes& planes, std::size_t count) {
  const Ints d;
  // A lane can't overflow: it adds at most color_block greys.
  auto sums = hn::Zero(d);
  for (std::size_t i = 0; i < count; i += hn::Lanes(d))
    sums = hn::Add(sums, gray(load_ints(planes.r + i), load_ints(planes.g + i), load_ints(planes.b + i)));
  return static_cast<std::uint64_t>(hn::GetLane(hn::SumOfLanes(d, sums)));
}

void merge(const ColorPlanes& planes, std::size_t count, std::uint8_t* pixels) {
  std::size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::ScalableTag<std::uint8_t> d;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d))
    hn::StoreInterleaved3(hn::LoadU(d, planes.r + i), hn::LoadU(d, planes.g + i), hn::LoadU(d, planes.b + i), d,
                          pixels + 3 * i);
#endif
  for (; i < count; ++i) {
    pixels[3 * i] = planes.r[i];
    pixels[3 * i + 1] = planes.g[i];
    pixels[3 * i + 2] = planes.b[i];
  }
}

ColorRowKernels get_color_rows() { return {blend, blend_gray, turn_hue, sum_gray, merge}; }

}  // namespace HWY_NAMESPACE
}  // namespace penstock::image
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace penstock::image {

HWY_EXPORT(get_color_rows);
ColorRowKernels color_rows() { return HWY_DYNAMIC_DISPATCH(get_color_rows)(); }

}  // namespace penstock::image
#endif
