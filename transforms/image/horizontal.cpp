// SPDX-License-Identifier: Apache-2.0
#include "kernels.hpp"

#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "horizontal.cpp"
#define HWY_WANT_AVX3_DL
#include <hwy/foreach_target.h>
// Must follow foreach_target.h, which includes these files once per target.
#include <hwy/highway.h>

#if HWY_TARGET != HWY_SCALAR
#include "horizontal_blocks-inl.hpp"
#include "horizontal_flat-inl.hpp"
#include "horizontal_gather-inl.hpp"
#endif

HWY_BEFORE_NAMESPACE();
namespace penstock::image {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR

std::size_t table_bytes(const Axis&, int) { return 0; }
void prepare(HorizontalPlan&) {}

void run(const HorizontalPlan& plan, const RowPair& rows) {
  const Axis& axis = *plan.axis;
  for (int row = 0; row < 2; ++row) {
    std::uint8_t* out = rows.out[row];
    for (std::int32_t i = 0; i < axis.count; ++i) {
      const std::int16_t* weights = axis.weights_of<std::int16_t>(i);
      for (std::int32_t c = 0; c < plan.channels; ++c) {
        const std::uint8_t* at = rows.from[row] + static_cast<std::ptrdiff_t>(axis.start[i]) * plan.channels + c;
        std::int32_t sum = 8192;
        for (std::int32_t k = 0; k < axis.length[i]; ++k, at += plan.channels) sum += *at * weights[k];
        *out++ = static_cast<std::uint8_t>(sum >> 14);
      }
    }
  }
}

#else

std::size_t table_bytes(const Axis& axis, int channels) {
  std::size_t bytes = channels >= 3 ? blocks_bytes(axis) : gather_bytes(axis);
#if PENSTOCK_IMAGE_FLAT
  if (flat_fits(axis, channels)) bytes = flat_bytes(axis, channels);
#endif
  return bytes;
}

void prepare(HorizontalPlan& plan) {
#if PENSTOCK_IMAGE_FLAT
  plan.flat = flat_fits(*plan.axis, plan.channels);
  if (plan.flat) return flat_prepare(plan);
#endif
  if (plan.channels >= 3) return blocks_prepare(plan);
  gather_prepare(plan);
}

void run_row(const HorizontalPlan& plan, const std::uint8_t* row, std::uint8_t* out) {
  switch (plan.channels) {
    case 1:
      return gather_run<1>(plan, row, out);
    case 2:
      return gather_run<2>(plan, row, out);
    case 3:
      return blocks_run<3>(plan, row, out);
    default:
      return blocks_run<4>(plan, row, out);
  }
}

void run(const HorizontalPlan& plan, const RowPair& rows) {
#if PENSTOCK_IMAGE_FLAT
  if (plan.flat) return flat_run(plan, rows);
#endif
  for (int row = 0; row < 2; ++row) run_row(plan, rows.from[row], rows.out[row]);
}

#endif

HorizontalKernels get_horizontal() { return {table_bytes, prepare, run}; }

}  // namespace HWY_NAMESPACE
}  // namespace penstock::image
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace penstock::image {

HWY_EXPORT(get_horizontal);
HorizontalKernels horizontal() { return HWY_DYNAMIC_DISPATCH(get_horizontal)(); }

}  // namespace penstock::image
#endif
