// SPDX-License-Identifier: Apache-2.0
#include "tissue/column_sums.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tissue/column_sums.cpp"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h, which includes this file once per target.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace penstock::slide {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void sums_of_columns(const std::uint8_t* rows, std::size_t stride, std::size_t count, std::size_t bytes,
                     std::uint16_t* sums) {
  std::size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::ScalableTag<std::uint16_t> d;
  const hn::Rebind<std::uint8_t, decltype(d)> d8;
  for (const std::size_t lanes = hn::Lanes(d); i + lanes <= bytes; i += lanes) {
    auto sum = hn::Zero(d);
    const std::uint8_t* at = rows + i;
    for (std::size_t row = 0; row < count; ++row, at += stride) sum = hn::Add(sum, hn::PromoteTo(d, hn::LoadU(d8, at)));
    hn::StoreU(sum, d, sums + i);
  }
#endif
  for (; i < bytes; ++i) {
    std::uint32_t sum = 0;
    for (std::size_t row = 0; row < count; ++row) sum += rows[row * stride + i];
    sums[i] = static_cast<std::uint16_t>(sum);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace penstock::slide
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace penstock::slide {

HWY_EXPORT(sums_of_columns);

void sum_columns(const std::uint8_t* rows, std::size_t stride, std::size_t count, std::size_t bytes,
                 std::uint16_t* sums) {
  HWY_DYNAMIC_DISPATCH(sums_of_columns)(rows, stride, count, bytes, sums);
}

}  // namespace penstock::slide
#endif
