// SPDX-License-Identifier: Apache-2.0
#include "kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "vertical.cpp"
#define HWY_WANT_AVX3_DL
#include <hwy/foreach_target.h>
// Must follow foreach_target.h, which includes this file once per target.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace penstock::image {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void plain_vertical(const std::uint8_t* first, std::ptrdiff_t stride, const std::uint16_t* weights, int taps,
                    std::uint8_t* out, std::size_t bytes) {
  for (std::size_t j = 0; j < bytes; ++j) {
    std::uint32_t sum = static_cast<std::uint32_t>(128 + taps / 2);
    const std::uint8_t* at = first + j;
    for (int k = 0; k < taps; ++k, at += stride) sum += std::uint32_t{*at} * weights[k] >> 8;
    out[j] = static_cast<std::uint8_t>(sum >> 8);
  }
}

void vertical_wide(const std::uint8_t* first, std::ptrdiff_t stride, const std::int32_t* weights, int taps,
                   std::int32_t* sum, std::uint8_t* out, std::size_t bytes) {
  const hn::ScalableTag<std::int32_t> d;
  const std::size_t lanes = hn::Lanes(d);
  const std::size_t whole = HWY_TARGET == HWY_SCALAR ? 0 : bytes / lanes * lanes;
  for (std::size_t j = 0; j < bytes; ++j) sum[j] = 1 << 21;
  for (int k = 0; k < taps; ++k) {
    const std::uint8_t* row = first + k * stride;
#if HWY_TARGET != HWY_SCALAR
    const hn::Rebind<std::uint8_t, decltype(d)> d8;
    const auto w = hn::Set(d, weights[k]);
    for (std::size_t j = 0; j < whole; j += lanes)
      hn::StoreU(hn::Add(hn::LoadU(d, sum + j), hn::Mul(w, hn::PromoteTo(d, hn::LoadU(d8, row + j)))), d, sum + j);
#endif
    for (std::size_t j = whole; j < bytes; ++j) sum[j] += weights[k] * row[j];
  }
  for (std::size_t j = 0; j < bytes; ++j) out[j] = static_cast<std::uint8_t>(sum[j] >> 22);
}

#if HWY_TARGET == HWY_SCALAR

VerticalRow get_vertical() { return plain_vertical; }

#else

// Even and odd bytes are processed as the high bytes of 16-bit lanes. This needs no shuffles, and works with any vector
// size.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V blend(D d, V even, V odd, V round) {
  const hn::Repartition<std::uint16_t, D> d16;
  const auto low = hn::ShiftRight<8>(hn::Add(hn::BitCast(d16, even), hn::BitCast(d16, round)));
  const auto high = hn::And(hn::Add(hn::BitCast(d16, odd), hn::BitCast(d16, round)), hn::Set(d16, 0xff00));
  return hn::BitCast(d, hn::Or(low, high));
}

// `taps_known` is the number of taps as a constant, so that the weights stay in registers. If it is 0, the number is
// `taps_given`.
template <int taps_known>
void vertical(const std::uint8_t* first, std::ptrdiff_t stride, const std::uint16_t* weights, int taps_given,
              std::uint8_t* out, std::size_t bytes) {
  const int taps = taps_known != 0 ? taps_known : taps_given;
  const auto rounding = static_cast<std::uint16_t>(128 + taps / 2);
  const hn::ScalableTag<std::uint8_t> d;
  const hn::Repartition<std::uint16_t, decltype(d)> d16;
  const std::size_t lanes = hn::Lanes(d);
  if (bytes < lanes) return plain_vertical(first, stride, weights, taps, out, bytes);
  const auto round = hn::BitCast(d, hn::Set(d16, rounding));
  const auto mask = hn::Set(d16, 0xff00);
  const auto one = [&](std::size_t j) HWY_ATTR {
    auto even = hn::Zero(d16);
    auto odd = hn::Zero(d16);
    const std::uint8_t* at = first + j;
    for (int k = 0; k < taps; ++k, at += stride) {
      const auto w = hn::Set(d16, weights[k]);
      const auto v = hn::BitCast(d16, hn::LoadU(d, at));
      even = hn::Add(even, hn::MulHigh(hn::ShiftLeft<8>(v), w));
      odd = hn::Add(odd, hn::MulHigh(hn::And(v, mask), w));
    }
    hn::StoreU(blend(d, hn::BitCast(d, even), hn::BitCast(d, odd), round), d, out + j);
  };
  std::size_t j = 0;
  for (; j + lanes <= bytes; j += lanes) one(j);
  // The last vector overlaps the one before it, and writes the same bytes again.
  if (j < bytes) one(bytes - lanes);
}

void vertical_any(const std::uint8_t* first, std::ptrdiff_t stride, const std::uint16_t* weights, int taps,
                  std::uint8_t* out, std::size_t bytes) {
  switch (taps) {
    case 1:
      return vertical<1>(first, stride, weights, taps, out, bytes);
    case 2:
      return vertical<2>(first, stride, weights, taps, out, bytes);
    case 3:
      return vertical<3>(first, stride, weights, taps, out, bytes);
    case 4:
      return vertical<4>(first, stride, weights, taps, out, bytes);
    case 5:
      return vertical<5>(first, stride, weights, taps, out, bytes);
    case 6:
      return vertical<6>(first, stride, weights, taps, out, bytes);
    default:
      return vertical<0>(first, stride, weights, taps, out, bytes);
  }
}

VerticalRow get_vertical() { return vertical_any; }

#endif

WideVerticalRow get_vertical_wide() { return vertical_wide; }

}  // namespace HWY_NAMESPACE
}  // namespace penstock::image
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace penstock::image {

HWY_EXPORT(get_vertical);
HWY_EXPORT(get_vertical_wide);
VerticalRow vertical_row() { return HWY_DYNAMIC_DISPATCH(get_vertical)(); }
WideVerticalRow wide_vertical_row() { return HWY_DYNAMIC_DISPATCH(get_vertical_wide)(); }

}  // namespace penstock::image
#endif
