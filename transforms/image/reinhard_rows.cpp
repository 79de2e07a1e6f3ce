// SPDX-License-Identifier: Apache-2.0
#include "reinhard_rows.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reinhard_rows.cpp"
#define HWY_WANT_AVX3_DL
#include <hwy/foreach_target.h>
// Must follow foreach_target.h, which includes this file once per target.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace penstock::image {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using ConeFloats = hn::ScalableTag<float>;
using ConeInts = hn::RebindToSigned<ConeFloats>;
using ConeLevels = hn::Rebind<std::uint8_t, ConeFloats>;
using ConeVec = hn::Vec<ConeFloats>;

// ln 2 = high + low. `high` has so few bits that its multiples are exact.
constexpr float cone_ln2_high = 0.693145751953125f, cone_ln2_low = 1.42860677e-6f;

// Returns the natural logarithm of a normal positive number.
HWY_INLINE ConeVec log_of_cone(ConeVec x) {
  const ConeFloats d;
  const ConeInts ints;
  // x = m 2^k with m from about sqrt(1/2) to sqrt(2). The bits of sqrt(1/2) are subtracted from those of x, which
  // leaves k in the exponent. Adding the bits of sqrt(1/2) to the fraction that is left makes m.
  constexpr std::int32_t root_bits = 0x3f3504f3;
  const auto bits = hn::Sub(hn::BitCast(ints, x), hn::Set(ints, root_bits));
  const auto k = hn::ConvertTo(d, hn::ShiftRight<23>(bits));
  const auto m = hn::BitCast(d, hn::Add(hn::And(bits, hn::Set(ints, 0x007fffff)), hn::Set(ints, root_bits)));
  // ln m = 2 artanh s.
  const auto f = hn::Sub(m, hn::Set(d, 1.0f));
  const auto s = hn::Div(f, hn::Add(f, hn::Set(d, 2.0f)));
  const auto square = hn::Mul(s, s);
  auto series = hn::Set(d, 2.0f / 9);
  series = hn::Add(hn::Mul(series, square), hn::Set(d, 2.0f / 7));
  series = hn::Add(hn::Mul(series, square), hn::Set(d, 2.0f / 5));
  series = hn::Add(hn::Mul(series, square), hn::Set(d, 2.0f / 3));
  series = hn::Mul(hn::Mul(series, square), s);
  const auto small = hn::Add(series, hn::Mul(k, hn::Set(d, cone_ln2_low)));
  return hn::Add(hn::Mul(k, hn::Set(d, cone_ln2_high)), hn::Add(hn::Add(s, s), small));
}

// Returns e^x for x in [-80, 80].
HWY_INLINE ConeVec exp_of_cone(ConeVec x) {
  const ConeFloats d;
  const ConeInts ints;
  // k is x / ln 2, rounded to the nearest integer. The conversion cuts off the fraction. 128 is added before, so that
  // the number is positive, and cutting off its fraction rounds it down.
  const auto k = hn::Sub(hn::ConvertTo(ints, hn::Add(hn::Mul(x, hn::Set(d, 1.44269504f)), hn::Set(d, 128.5f))),
                         hn::Set(ints, 128));
  const auto multiple = hn::ConvertTo(d, k);
  const auto r =
      hn::Sub(hn::Sub(x, hn::Mul(multiple, hn::Set(d, cone_ln2_high))), hn::Mul(multiple, hn::Set(d, cone_ln2_low)));
  auto series = hn::Set(d, 1.0f / 720);
  series = hn::Add(hn::Mul(series, r), hn::Set(d, 1.0f / 120));
  series = hn::Add(hn::Mul(series, r), hn::Set(d, 1.0f / 24));
  series = hn::Add(hn::Mul(series, r), hn::Set(d, 1.0f / 6));
  series = hn::Add(hn::Mul(series, r), hn::Set(d, 0.5f));
  series = hn::Add(hn::Mul(series, r), hn::Set(d, 1.0f));
  series = hn::Add(hn::Mul(series, r), hn::Set(d, 1.0f));
  return hn::Mul(series, hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(k, hn::Set(ints, 127)))));
}

HWY_INLINE ConeVec mix_of(const float* row, ConeVec a, ConeVec b, ConeVec c) {
  const ConeFloats d;
  return hn::Add(hn::Add(hn::Mul(hn::Set(d, row[0]), a), hn::Mul(hn::Set(d, row[1]), b)),
                 hn::Mul(hn::Set(d, row[2]), c));
}

HWY_INLINE ConeVec light_at(const std::uint8_t* at) {
  const ConeFloats d;
  const auto level = hn::ConvertTo(d, hn::PromoteTo(ConeInts(), hn::LoadU(ConeLevels(), at)));
  return hn::Add(level, hn::Set(d, 1.0f));
}

HWY_INLINE ConeVec changed_cone(const float* row, float offset, ConeVec l, ConeVec m, ConeVec s) {
  const ConeFloats d;
  const auto log = hn::Add(mix_of(row, l, m, s), hn::Set(d, offset));
  return exp_of_cone(hn::Min(hn::Max(log, hn::Set(d, -80.0f)), hn::Set(d, 80.0f)));
}

// Stores light - 1, rounded to 8 bits. Halves are rounded up.
HWY_INLINE void store_light(ConeVec light, std::uint8_t* at) {
  const ConeFloats d;
  const auto level = hn::Min(hn::Max(hn::Sub(light, hn::Set(d, 1.0f)), hn::Zero(d)), hn::Set(d, 255.0f));
  hn::StoreU(hn::DemoteTo(ConeLevels(), hn::ConvertTo(ConeInts(), hn::Add(level, hn::Set(d, 0.5f)))), ConeLevels(), at);
}

void change_cones(const ColorPlanes& planes, std::size_t count, const ReinhardChange& change) {
  for (std::size_t i = 0; i < count; i += hn::Lanes(ConeFloats())) {
    const auto r = light_at(planes.r + i), g = light_at(planes.g + i), b = light_at(planes.b + i);
    const auto l = log_of_cone(mix_of(change.cones_of_rgb[0], r, g, b)),
               m = log_of_cone(mix_of(change.cones_of_rgb[1], r, g, b)),
               s = log_of_cone(mix_of(change.cones_of_rgb[2], r, g, b));
    const auto new_l = changed_cone(change.matrix[0], change.offset[0], l, m, s),
               new_m = changed_cone(change.matrix[1], change.offset[1], l, m, s),
               new_s = changed_cone(change.matrix[2], change.offset[2], l, m, s);
    store_light(mix_of(change.rgb_of_cones[0], new_l, new_m, new_s), planes.r + i);
    store_light(mix_of(change.rgb_of_cones[1], new_l, new_m, new_s), planes.g + i);
    store_light(mix_of(change.rgb_of_cones[2], new_l, new_m, new_s), planes.b + i);
  }
}

ReinhardRows get_reinhard_rows() { return change_cones; }

}  // namespace HWY_NAMESPACE
}  // namespace penstock::image
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace penstock::image {

HWY_EXPORT(get_reinhard_rows);
ReinhardRows reinhard_rows() { return HWY_DYNAMIC_DISPATCH(get_reinhard_rows)(); }

}  // namespace penstock::image
#endif
