// SPDX-License-Identifier: Apache-2.0
#include "pixels/values/row_sums.hpp"

#include <cstdint>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pixels/values/row_sums.cpp"
// Must be included before Highway's headers.
#include "pixels/values/simd_targets.hpp"

#include <hwy/foreach_target.h>
// Must follow foreach_target.h, which includes this file once per target.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace penstock::slide {
namespace HWY_NAMESPACE {

// Sums the pixels from `first` on. The pixel before `first` is summed already.
template <class Value, std::size_t Samples>
void sum_pixels(std::byte* row, std::size_t first, std::size_t pixels) {
  constexpr std::size_t pixel = Samples * sizeof(Value);
  for (std::size_t i = first == 0 ? 1 : first; i < pixels; ++i)
    for (std::size_t s = 0; s < Samples; ++s) {
      std::byte* const at = row + i * pixel + s * sizeof(Value);
      Value value, left;
      std::memcpy(&value, at, sizeof value);
      std::memcpy(&left, at - pixel, sizeof left);
      value = static_cast<Value>(value + left);
      std::memcpy(at, &value, sizeof value);
    }
}

#if HWY_TARGET == HWY_SCALAR

template <class Value, std::size_t Samples>
void sum_all(std::byte* row, std::size_t pixels) {
  sum_pixels<Value, Samples>(row, 0, pixels);
}

#else

namespace hn = hwy::HWY_NAMESPACE;

// Returns the sums of the whole pixels of a register, each pixel with all pixels before it.
template <std::size_t Pixel, class D, class V = hn::Vec<D>>
V sums_within(D d, V values) {
  const hn::Repartition<std::uint8_t, D> bytes;
  const auto shifted = [&](auto by, V v) {
    return hn::BitCast(d, hn::ShiftLeftBytes<decltype(by)::value>(hn::BitCast(bytes, v)));
  };
  values = hn::Add(values, shifted(std::integral_constant<int, Pixel>(), values));
  if constexpr (2 * Pixel < 16) values = hn::Add(values, shifted(std::integral_constant<int, 2 * Pixel>(), values));
  if constexpr (4 * Pixel < 16) values = hn::Add(values, shifted(std::integral_constant<int, 4 * Pixel>(), values));
  if constexpr (8 * Pixel < 16) values = hn::Add(values, shifted(std::integral_constant<int, 8 * Pixel>(), values));
  return values;
}

// A step sums the whole pixels of 16 bytes. The bytes after them are written as they were before the step. The next
// step's bytes are read before that, because reading what was just written in parts takes many cycles.
template <class Value, std::size_t Samples>
void sum_all(std::byte* row, std::size_t pixels) {
  constexpr std::size_t pixel = Samples * sizeof(Value), together = 16 / pixel, step = together * pixel;
  const hn::FixedTag<Value, 16 / sizeof(Value)> d;
  const hn::FixedTag<std::uint8_t, 16> bytes;
  alignas(16) std::uint8_t last_pixel[16], whole[16];
  for (std::size_t i = 0; i < 16; ++i) {
    last_pixel[i] = static_cast<std::uint8_t>(step - pixel + i % pixel);
    whole[i] = i < step ? 255 : 0;
  }
  const auto last = hn::Load(bytes, last_pixel), keep = hn::Load(bytes, whole);
  auto* const at = reinterpret_cast<std::uint8_t*>(row);
  auto before = hn::Zero(bytes);  // the last pixel, as often as it fits
  std::size_t done = 0;
  if (pixels * pixel >= 16) {
    auto stored = hn::LoadU(bytes, at);
    for (bool more = true; more; done += together) {
      std::uint8_t* const here = at + done * pixel;
      more = (done + together) * pixel + 16 <= pixels * pixel;
      const auto next = more ? hn::LoadU(bytes, here + step) : stored;
      const auto sums =
          hn::BitCast(bytes, hn::Add(sums_within<pixel>(d, hn::BitCast(d, stored)), hn::BitCast(d, before)));
      hn::StoreU(step == 16 ? sums : hn::IfThenElse(hn::MaskFromVec(keep), sums, stored), bytes, here);
      before = hn::TableLookupBytes(sums, last);
      stored = next;
    }
  }
  sum_pixels<Value, Samples>(row, done, pixels);
}

#endif

template <class Value>
void sum_values(std::byte* row, std::size_t pixels, std::size_t samples) {
  switch (samples) {
    case 1:
      return sum_all<Value, 1>(row, pixels);
    case 2:
      return sum_all<Value, 2>(row, pixels);
    case 3:
      return sum_all<Value, 3>(row, pixels);
    default:
      return sum_all<Value, 4>(row, pixels);
  }
}

void sum_row_of(std::byte* row, std::size_t pixels, std::size_t samples, std::size_t value_bytes) {
  if (value_bytes == 1) return sum_values<std::uint8_t>(row, pixels, samples);
  sum_values<std::uint16_t>(row, pixels, samples);
}

}  // namespace HWY_NAMESPACE
}  // namespace penstock::slide
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace penstock::slide {

HWY_EXPORT(sum_row_of);

void sum_row(std::byte* row, std::size_t pixels, std::size_t samples, std::size_t value_bytes) noexcept {
  HWY_DYNAMIC_DISPATCH(sum_row_of)(row, pixels, samples, value_bytes);
}

}  // namespace penstock::slide
#endif
