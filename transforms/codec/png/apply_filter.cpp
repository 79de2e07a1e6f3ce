// SPDX-License-Identifier: Apache-2.0
#include "apply_filter.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "apply_filter.cpp"
// Must be included before Highway's headers.
#include "simd_targets.hpp"

#include <hwy/foreach_target.h>
// Must follow foreach_target.h, which includes this file once per target.
#include <hwy/highway.h>

#include "paeth-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace penstock::png {
namespace HWY_NAMESPACE {

using Byte = std::uint8_t;

#if HWY_TARGET == HWY_SCALAR

template <Filter Which>
Byte filtered(std::size_t pixel, const Byte* row, const Byte* above) {
  const int left = *(row - pixel), up = *above, corner = *(above - pixel);
  int prediction = 0;
  if constexpr (Which == sub_filter) prediction = left;
  if constexpr (Which == up_filter) prediction = up;
  if constexpr (Which == average_filter) prediction = (left + up) / 2;
  if constexpr (Which == paeth_filter) {
    const int to_left = std::abs(up - corner), to_up = std::abs(left - corner),
              to_corner = std::abs(left + up - 2 * corner);
    prediction = to_left <= to_up && to_left <= to_corner ? left : to_up <= to_corner ? up : corner;
  }
  return static_cast<Byte>(*row - prediction);
}

template <Filter Which>
void apply(std::size_t pixel, const Byte* row, const Byte* above, std::size_t bytes, Byte* out) {
  for (std::size_t i = 0; i < bytes; ++i) out[i] = filtered<Which>(pixel, row + i, above + i);
}

template <Filter Which>
std::uint64_t sum_of(std::size_t pixel, const Byte* row, const Byte* above, std::size_t bytes) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < bytes; ++i) {
    const int value = filtered<Which>(pixel, row + i, above + i);
    sum += static_cast<std::uint64_t>(std::min(value, 256 - value));
  }
  return sum;
}

void sum_filters(std::size_t pixel, const Byte* row, const Byte* above, std::size_t bytes, std::uint64_t* sums) {
  sums[no_filter] = sum_of<no_filter>(pixel, row, above, bytes);
  sums[sub_filter] = sum_of<sub_filter>(pixel, row, above, bytes);
  sums[up_filter] = sum_of<up_filter>(pixel, row, above, bytes);
  sums[average_filter] = sum_of<average_filter>(pixel, row, above, bytes);
  sums[paeth_filter] = sum_of<paeth_filter>(pixel, row, above, bytes);
}

#else

namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::ScalableTag<Byte>;
using Vector = hn::Vec<Tag>;
static_assert(HWY_LANES(Byte) <= apply_margin);

// Bytes of a row, and the bytes that predict them.
struct Neighbours {
  HWY_INLINE Neighbours(std::size_t pixel, const Byte* row, const Byte* above)
      : here(hn::LoadU(Tag(), row)),
        left(hn::LoadU(Tag(), row - pixel)),
        up(hn::LoadU(Tag(), above)),
        corner(hn::LoadU(Tag(), above - pixel)) {}

  template <Filter Which>
  HWY_INLINE Vector filtered() const {
    const Tag d;
    if constexpr (Which == no_filter) return here;
    if constexpr (Which == sub_filter) return hn::Sub(here, left);
    if constexpr (Which == up_filter) return hn::Sub(here, up);
    if constexpr (Which == average_filter) {
      // AverageRound rounds up.
      const Vector odd = hn::And(hn::Xor(left, up), hn::Set(d, 1));
      return hn::Sub(here, hn::Sub(hn::AverageRound(left, up), odd));
    }
    return hn::Sub(here, paeth(d, left, up, corner));
  }

  Vector here, left, up, corner;
};

template <Filter Which>
void apply(std::size_t pixel, const Byte* row, const Byte* above, std::size_t bytes, Byte* out) {
  const Tag d;
  for (std::size_t i = 0; i < bytes; i += hn::Lanes(d))
    hn::StoreU(Neighbours(pixel, row + i, above + i).filtered<Which>(), d, out + i);
}

// Sums of absolute values for all filters.
class Sums {
 public:
  HWY_INLINE Sums() { none_ = sub_ = up_ = average_ = paeth_ = hn::Zero(SumTag()); }
  // Adds the bytes for which `counted` is 255. For the others, `counted` is 0.
  HWY_INLINE void add(const Neighbours& bytes, Vector counted) {
    const auto absolute = [&](Vector value) HWY_ATTR {
      return hn::SumsOf8(hn::And(counted, hn::Min(value, hn::Sub(hn::Zero(Tag()), value))));
    };
    none_ = hn::Add(none_, absolute(bytes.filtered<no_filter>()));
    sub_ = hn::Add(sub_, absolute(bytes.filtered<sub_filter>()));
    up_ = hn::Add(up_, absolute(bytes.filtered<up_filter>()));
    average_ = hn::Add(average_, absolute(bytes.filtered<average_filter>()));
    paeth_ = hn::Add(paeth_, absolute(bytes.filtered<paeth_filter>()));
  }

  HWY_INLINE void store(std::uint64_t* sums) const {
    sums[no_filter] = total(none_);
    sums[sub_filter] = total(sub_);
    sums[up_filter] = total(up_);
    sums[average_filter] = total(average_);
    sums[paeth_filter] = total(paeth_);
  }

 private:
  using SumTag = hn::Repartition<std::uint64_t, Tag>;
  using Sum = hn::Vec<SumTag>;

  static HWY_INLINE std::uint64_t total(Sum sum) { return hn::GetLane(hn::SumOfLanes(SumTag(), sum)); }

  Sum none_, sub_, up_, average_, paeth_;
};

void sum_filters(std::size_t pixel, const Byte* row, const Byte* above, std::size_t bytes, std::uint64_t* sums) {
  const Tag d;
  const std::size_t lanes = hn::Lanes(d);
  Sums all;
  std::size_t i = 0;
  for (; i + lanes <= bytes; i += lanes) all.add(Neighbours(pixel, row + i, above + i), hn::Set(d, 255));
  if (i < bytes) all.add(Neighbours(pixel, row + i, above + i), hn::VecFromMask(d, hn::FirstN(d, bytes - i)));
  all.store(sums);
}

#endif

Filter least(std::size_t pixel_bytes, const Byte* row, const Byte* above, std::size_t bytes) {
  std::uint64_t sums[filters];
  sum_filters(pixel_bytes, row, above, bytes, sums);
  return static_cast<Filter>(std::min_element(std::begin(sums), std::end(sums)) - std::begin(sums));
}

void apply_any(Filter filter, std::size_t pixel_bytes, const Byte* row, const Byte* above, std::size_t bytes,
               Byte* out) {
  switch (filter) {
    case sub_filter:
      return apply<sub_filter>(pixel_bytes, row, above, bytes, out);
    case up_filter:
      return apply<up_filter>(pixel_bytes, row, above, bytes, out);
    case average_filter:
      return apply<average_filter>(pixel_bytes, row, above, bytes, out);
    case paeth_filter:
      return apply<paeth_filter>(pixel_bytes, row, above, bytes, out);
    case no_filter:
    case filters:
      return apply<no_filter>(pixel_bytes, row, above, bytes, out);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace penstock::png
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace penstock::png {

HWY_EXPORT(least);
Filter least_filter(std::size_t pixel_bytes, const std::uint8_t* row, const std::uint8_t* above, std::size_t bytes) {
  return HWY_DYNAMIC_DISPATCH(least)(pixel_bytes, row, above, bytes);
}

HWY_EXPORT(apply_any);
void apply_filter(Filter filter, std::size_t pixel_bytes, const std::uint8_t* row, const std::uint8_t* above,
                  std::size_t bytes, std::uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(apply_any)(filter, pixel_bytes, row, above, bytes, out);
}

}  // namespace penstock::png
#endif
