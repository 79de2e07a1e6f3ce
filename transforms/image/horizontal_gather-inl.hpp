// SPDX-License-Identifier: Apache-2.0
// The horizontal pass for 1 and 2 channels: one output pixel per 32-bit lane. This file is included once per target.
#if defined(PENSTOCK_IMAGE_GATHER_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PENSTOCK_IMAGE_GATHER_INL
#undef PENSTOCK_IMAGE_GATHER_INL
#else
#define PENSTOCK_IMAGE_GATHER_INL
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace penstock::image {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using GatherTag = hn::ScalableTag<std::int32_t>;

HWY_INLINE std::size_t gather_padded(const Axis& axis) {
  const std::size_t lanes = hn::Lanes(GatherTag());
  return (static_cast<std::size_t>(axis.count) + lanes - 1) / lanes * lanes;
}

// Taps are read in steps of 4 bytes. First in the tables is each pixel's start: the byte of the row at which the
// pixel's inputs begin. Then come two vectors of weight pairs for each vector of pixels and each step. With 1 channel,
// the first vector is for the step's taps 0 and 2, and the second for its taps 1 and 3. With 2 channels, both are for
// its taps 0 and 1.
HWY_INLINE std::size_t gather_steps(const Axis& axis, int channels) {
  return static_cast<std::size_t>(channels == 1 ? (axis.taps + 3) / 4 : axis.taps / 2);
}
HWY_INLINE std::size_t gather_bytes(const Axis& axis) {
  return gather_padded(axis) * sizeof(std::int32_t) * (1 + 2 * gather_steps(axis, 2)) + 64;
}

inline void gather_prepare(HorizontalPlan& plan) {
  const Axis& axis = *plan.axis;
  const std::size_t lanes = hn::Lanes(GatherTag());
  const std::size_t padded = gather_padded(axis);
  const std::size_t steps = gather_steps(axis, plan.channels);
  auto* starts = reinterpret_cast<std::int32_t*>(plan.tables);
  std::int32_t* weights = starts + padded;
  for (std::size_t x = 0; x < padded; ++x) {
    const bool real = x < static_cast<std::size_t>(axis.count);
    const auto i = static_cast<std::int32_t>(real ? x : 0);
    starts[x] = axis.start[i] * plan.channels;
    const std::int16_t* from = axis.weights_of<std::int16_t>(i);
    const auto weight = [&](std::size_t k) -> std::uint32_t {
      return real && k < static_cast<std::size_t>(axis.taps) ? static_cast<std::uint16_t>(from[k]) : 0u;
    };
    for (std::size_t s = 0; s < steps; ++s) {
      std::int32_t* to = weights + (x / lanes * steps + s) * 2 * lanes + x % lanes;
      const std::size_t k = plan.channels == 1 ? 4 * s : 2 * s;
      const std::uint32_t a = plan.channels == 1 ? weight(k) | weight(k + 2) << 16 : weight(k) | weight(k + 1) << 16;
      const std::uint32_t b = plan.channels == 1 ? weight(k + 1) | weight(k + 3) << 16 : a;
      to[0] = static_cast<std::int32_t>(a);
      to[lanes] = static_cast<std::int32_t>(b);
    }
  }
}

template <int channels>
void gather_run(const HorizontalPlan& plan, const std::uint8_t* row, std::uint8_t* out) {
  const GatherTag d32;
  const hn::Repartition<std::int16_t, GatherTag> d16;
  const hn::RebindToUnsigned<GatherTag> du32;
  const std::size_t lanes = hn::Lanes(d32);
  const Axis& axis = *plan.axis;
  const std::size_t padded = gather_padded(axis);
  const std::size_t steps = gather_steps(axis, channels);
  const auto* starts = reinterpret_cast<const std::int32_t*>(plan.tables);
  const std::int32_t* weights = starts + padded;
  const auto mask = hn::Set(d32, 0x00ff00ff);
  const auto round = hn::Set(d32, 8192);
  for (std::size_t x = 0; x < padded; x += lanes) {
    const auto start = hn::LoadU(d32, starts + x);
    auto even = hn::Zero(d32), odd = even, even_high = even, odd_high = even;
    for (std::size_t s = 0; s < steps; ++s, weights += 2 * lanes) {
      const auto bytes = hn::GatherOffset(d32, reinterpret_cast<const std::int32_t*>(row + 4 * s), start);
      const auto shifted = hn::BitCast(d32, hn::ShiftRight<8>(hn::BitCast(du32, bytes)));
      even = hn::ReorderWidenMulAccumulate(d32, hn::BitCast(d16, hn::And(bytes, mask)),
                                           hn::BitCast(d16, hn::LoadU(d32, weights)), even, even_high);
      odd = hn::ReorderWidenMulAccumulate(d32, hn::BitCast(d16, hn::And(shifted, mask)),
                                          hn::BitCast(d16, hn::LoadU(d32, weights + lanes)), odd, odd_high);
    }
    even = hn::RearrangeToOddPlusEven(even, even_high);
    odd = hn::RearrangeToOddPlusEven(odd, odd_high);
    if constexpr (channels == 1) {
      const auto level = hn::ShiftRight<14>(hn::Add(hn::Add(even, odd), round));
      hn::StoreU(hn::DemoteTo(hn::Rebind<std::uint8_t, GatherTag>(), level), hn::Rebind<std::uint8_t, GatherTag>(),
                 out + x);
    } else {
      const auto a = hn::ShiftRight<14>(hn::Add(even, round));
      const auto b = hn::ShiftRight<14>(hn::Add(odd, round));
      const hn::Rebind<std::uint16_t, GatherTag> du16;
      const auto both = hn::DemoteTo(du16, hn::Or(a, hn::ShiftLeft<8>(b)));
      hn::StoreU(both, du16, reinterpret_cast<std::uint16_t*>(out + 2 * x));
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace penstock::image
HWY_AFTER_NAMESPACE();

#endif
