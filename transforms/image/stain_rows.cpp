// SPDX-License-Identifier: Apache-2.0
#include "stain_rows.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stain_rows.cpp"
#define HWY_WANT_AVX3_DL
#include <hwy/foreach_target.h>
// Must follow foreach_target.h, which includes this file once per target.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace penstock::image {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using StainFloats = hn::ScalableTag<float>;
using StainInts = hn::RebindToSigned<StainFloats>;
using StainLevels = hn::Rebind<std::uint8_t, StainFloats>;
using StainVec = hn::Vec<StainFloats>;

HWY_INLINE StainVec density_at(const std::uint8_t* at, const OpticalDensities& densities) {
  return hn::GatherIndex(StainFloats(), densities.of, hn::PromoteTo(StainInts(), hn::LoadU(StainLevels(), at)));
}

// Does the same as exact::exp in stain_pixel.hpp.
HWY_INLINE StainVec exp_of(StainVec x) {
  const StainFloats d;
  const StainInts ints;
  const auto k = hn::ConvertTo(ints, hn::Add(hn::Mul(x, hn::Set(d, 1.44269504f)), hn::Set(d, -0.5f)));
  const auto multiple = hn::ConvertTo(d, k);
  const auto r = hn::Add(hn::Add(x, hn::Mul(multiple, hn::Set(d, -0.693145751953125f))),
                         hn::Mul(multiple, hn::Set(d, -1.42860677e-6f)));
  auto series = hn::Set(d, 1.0f / 720);
  series = hn::Add(hn::Mul(series, r), hn::Set(d, 1.0f / 120));
  series = hn::Add(hn::Mul(series, r), hn::Set(d, 1.0f / 24));
  series = hn::Add(hn::Mul(series, r), hn::Set(d, 1.0f / 6));
  series = hn::Add(hn::Mul(series, r), hn::Set(d, 0.5f));
  series = hn::Add(hn::Mul(series, r), hn::Set(d, 1.0f));
  series = hn::Add(hn::Mul(series, r), hn::Set(d, 1.0f));
  return hn::Mul(series, hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(k, hn::Set(ints, 127)))));
}

// Computes and stores one of the channels R, G and B.
HWY_INLINE void store_channel(StainVec r, StainVec g, StainVec b, const float* row, float offset, std::uint8_t* at) {
  const StainFloats d;
  const auto mixed =
      hn::Add(hn::Add(hn::Mul(hn::Set(d, row[0]), r), hn::Mul(hn::Set(d, row[1]), g)), hn::Mul(hn::Set(d, row[2]), b));
  const auto density = hn::Add(mixed, hn::Set(d, offset));
  const auto inside = hn::Min(hn::Max(density, hn::Zero(d)), hn::Set(d, 6.0f));
  const auto level = hn::Add(hn::Mul(exp_of(hn::Neg(inside)), hn::Set(d, 256.0f)), hn::Set(d, -0.5f));
  hn::StoreU(hn::DemoteTo(StainLevels(), hn::ConvertTo(StainInts(), level)), StainLevels(), at);
}

void change_rows(const ColorPlanes& planes, std::size_t count, const StainChange& change,
                 const OpticalDensities& densities) {
  for (std::size_t i = 0; i < count; i += hn::Lanes(StainFloats())) {
    const auto r = density_at(planes.r + i, densities), g = density_at(planes.g + i, densities),
               b = density_at(planes.b + i, densities);
    store_channel(r, g, b, change.matrix[0], change.offset[0], planes.r + i);
    store_channel(r, g, b, change.matrix[1], change.offset[1], planes.g + i);
    store_channel(r, g, b, change.matrix[2], change.offset[2], planes.b + i);
  }
}

StainRows get_stain_rows() { return change_rows; }

}  // namespace HWY_NAMESPACE
}  // namespace penstock::image
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace penstock::image {

HWY_EXPORT(get_stain_rows);
StainRows stain_rows() { return HWY_DYNAMIC_DISPATCH(get_stain_rows)(); }

}  // namespace penstock::image
#endif
