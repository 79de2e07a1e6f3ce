// SPDX-License-Identifier: Apache-2.0
#include "pixels/values/rgb_row.hpp"

#include <algorithm>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pixels/values/rgb_row.cpp"
// Must be included before Highway's headers.
#include "pixels/values/simd_targets.hpp"

#include <hwy/foreach_target.h>
// Must follow foreach_target.h, which includes this file once per target.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace penstock::slide {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Byte = std::uint8_t;
using Alpha = StoredValues::Alpha;
using Tag8 = hn::ScalableTag<Byte>;
using Vector8 = hn::Vec<Tag8>;

// Returns the high byte, or with `nearest` value * 255 / 65535, rounded: (value + 128) / 257.
Byte narrowed(std::uint16_t value, bool nearest) {
  return static_cast<Byte>(nearest ? (std::uint32_t{value} * 255 + 32895) >> 16 : value >> 8);
}

void narrow(std::byte* row, std::size_t values, bool nearest) {
  std::size_t i = 0;
  auto* const to = reinterpret_cast<Byte*>(row);
#if HWY_TARGET != HWY_SCALAR
  const hn::ScalableTag<std::uint16_t> d16;
  const hn::Rebind<Byte, decltype(d16)> d8;
  const auto low = hn::Set(d16, 128), ratio = hn::Set(d16, 0xff01);
  for (const std::size_t lanes = hn::Lanes(d16); i + lanes <= values; i += lanes) {
    const auto value = hn::LoadU(d16, reinterpret_cast<const std::uint16_t*>(row) + i);
    // (v + 128) / 257 is v * 0xff01 / 2^24 for v + 128 below 2^16. Larger sums saturate, and give 255 as they should.
    const auto rounded = hn::ShiftRight<8>(hn::MulHigh(hn::SaturatedAdd(value, low), ratio));
    hn::StoreU(hn::DemoteTo(
                   d8, hn::BitCast(hn::RebindToSigned<decltype(d16)>(), nearest ? rounded : hn::ShiftRight<8>(value))),
               d8, to + i);
  }
#endif
  for (; i < values; ++i) {
    std::uint16_t value;
    std::memcpy(&value, row + 2 * i, sizeof value);
    to[i] = narrowed(value, nearest);
  }
}

Byte over_white(Byte value, Byte alpha, Alpha kind) {
  const unsigned product = kind == Alpha::apart ? (value * unsigned{alpha} + 127) / 255 : value;
  return static_cast<Byte>(std::min(product + 255 - alpha, 255u));
}

Vector8 over_white(Vector8 value, Vector8 alpha, Alpha kind) {
  const Tag8 d;
  const Vector8 clear = hn::Xor(alpha, hn::Set(d, 255));
#if HWY_TARGET != HWY_SCALAR
  if (kind == Alpha::apart) {
    const hn::Half<Tag8> half;
    const hn::Rebind<std::uint16_t, decltype(half)> d16;
    const auto product = [&](auto v, auto a) {
      // (n + 1 + n / 256) / 256 is n / 255, rounded down, for all n of 16 bits but the largest.
      const auto n = hn::Add(hn::Mul(hn::PromoteTo(d16, v), hn::PromoteTo(d16, a)), hn::Set(d16, 127));
      const auto quotient = hn::ShiftRight<8>(hn::Add(hn::Add(n, hn::Set(d16, 1)), hn::ShiftRight<8>(n)));
      return hn::DemoteTo(half, hn::BitCast(hn::RebindToSigned<decltype(d16)>(), quotient));
    };
    value = hn::Combine(d, product(hn::UpperHalf(half, value), hn::UpperHalf(half, alpha)),
                        product(hn::LowerHalf(half, value), hn::LowerHalf(half, alpha)));
  }
#else
  if (kind == Alpha::apart) return hn::Set(d, over_white(hn::GetLane(value), hn::GetLane(alpha), kind));
#endif
  return hn::SaturatedAdd(value, clear);
}

// Writes whole registers of pixels. Returns how many pixels.
std::size_t write_gray(const Byte* row, std::size_t pixels, std::size_t samples, bool inverted, Alpha alpha,
                       Byte* rgb) {
  const Tag8 d;
  const std::size_t lanes = hn::Lanes(d);
  const Vector8 inversion = hn::Set(d, inverted ? 255 : 0);
  std::size_t i = 0;
  for (; i + lanes <= pixels; i += lanes) {
    Vector8 value, opacity = hn::Set(d, 255);
    if (samples == 1)
      value = hn::LoadU(d, row + i);
    else
      hn::LoadInterleaved2(d, row + 2 * i, value, opacity);
    value = hn::Xor(value, inversion);
    if (alpha != Alpha::none) value = over_white(value, opacity, alpha);
    hn::StoreInterleaved3(value, value, value, d, rgb + 3 * i);
  }
  return i;
}

std::size_t write_four(const Byte* row, std::size_t pixels, Alpha alpha, Byte* rgb) {
  const Tag8 d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= pixels; i += lanes) {
    Vector8 red, green, blue, opacity;
    hn::LoadInterleaved4(d, row + 4 * i, red, green, blue, opacity);
    if (alpha != Alpha::none) {
      red = over_white(red, opacity, alpha);
      green = over_white(green, opacity, alpha);
      blue = over_white(blue, opacity, alpha);
    }
    hn::StoreInterleaved3(red, green, blue, d, rgb + 3 * i);
  }
  return i;
}

void write(const StoredValues& stored, const Byte* row, std::size_t pixels, Byte* rgb) {
  const bool gray = stored.colors != StoredValues::Colors::rgb;
  const bool inverted = stored.colors == StoredValues::Colors::white_is_zero;
  const std::size_t samples = stored.samples;
  std::size_t i =
      gray ? write_gray(row, pixels, samples, inverted, stored.alpha, rgb) : write_four(row, pixels, stored.alpha, rgb);
  for (; i < pixels; ++i)
    for (std::size_t c = 0; c < 3; ++c) {
      Byte value = row[i * samples + (gray ? 0 : c)];
      if (inverted) value = static_cast<Byte>(255 - value);
      rgb[3 * i + c] =
          stored.alpha == Alpha::none ? value : over_white(value, row[(i + 1) * samples - 1], stored.alpha);
    }
}

}  // namespace HWY_NAMESPACE
}  // namespace penstock::slide
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace penstock::slide {

HWY_EXPORT(narrow);
HWY_EXPORT(write);

void narrow_row(std::byte* row, std::size_t values, StoredValues::Colors colors) noexcept {
  HWY_DYNAMIC_DISPATCH(narrow)(row, values, colors == StoredValues::Colors::rgb);
}

void write_rgb_row(const StoredValues& stored, std::span<const std::byte> palette, const std::byte* row,
                   std::size_t pixels, std::byte* rgb) noexcept {
  if (stored.is_plain_rgb()) {
    std::memcpy(rgb, row, 3 * pixels);
  } else if (stored.colors == StoredValues::Colors::palette) {
    for (std::size_t i = 0; i < pixels; ++i)
      std::memcpy(rgb + 3 * i, palette.data() + 3 * std::to_integer<std::size_t>(row[i]), 3);
  } else {
    HWY_DYNAMIC_DISPATCH(write)
    (stored, reinterpret_cast<const std::uint8_t*>(row), pixels, reinterpret_cast<std::uint8_t*>(rgb));
  }
}

}  // namespace penstock::slide
#endif
