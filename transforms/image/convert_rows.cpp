// SPDX-License-Identifier: Apache-2.0
#include "kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "convert_rows.cpp"
#define HWY_WANT_AVX3_DL
#include <hwy/foreach_target.h>
// Must follow foreach_target.h, which includes this file once per target.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace penstock::image {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <std::size_t channels>
void reverse(const std::uint8_t* row, std::uint8_t* out, std::size_t width) {
  std::size_t x = 0;
#if HWY_TARGET != HWY_SCALAR
  // Number of whole pixels in 16 bytes. With 3 channels, one byte is left over. It is stored before the pixels, and a
  // later store overwrites it.
  constexpr std::size_t pixels = 16 / channels, spare = 16 % channels;
  const hn::CappedTag<std::uint8_t, 16> d;
  alignas(16) std::uint8_t from[16];
  for (std::size_t j = 0; j < 16; ++j)
    from[j] = static_cast<std::uint8_t>(
        j < spare ? 0 : (pixels - 1 - (j - spare) / channels) * channels + (j - spare) % channels);
  const auto index = hn::Load(d, from);
  for (; x * channels + 16 <= width * channels; x += pixels)
    hn::StoreU(hn::TableLookupBytes(hn::LoadU(d, row + x * channels), index), d,
               out + (width - x - pixels) * channels - spare);
#endif
  for (; x < width; ++x)
    for (std::size_t c = 0; c < channels; ++c) out[(width - 1 - x) * channels + c] = row[x * channels + c];
}

void reverse_any(const std::uint8_t* row, std::uint8_t* out, std::size_t width, int channels) {
  switch (channels) {
    case 1:
      return reverse<1>(row, out, width);
    case 2:
      return reverse<2>(row, out, width);
    case 3:
      return reverse<3>(row, out, width);
    default:
      return reverse<4>(row, out, width);
  }
}

template <std::size_t channels>
void split(const std::uint8_t* row, std::size_t width, std::uint8_t* out, std::size_t plane) {
  std::size_t x = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::ScalableTag<std::uint8_t> d;
  const std::size_t lanes = hn::Lanes(d);
  for (; x + lanes <= width; x += lanes) {
    const std::uint8_t* from = row + x * channels;
    hn::Vec<decltype(d)> a, b, c, e;
    if constexpr (channels == 2) hn::LoadInterleaved2(d, from, a, b);
    if constexpr (channels == 3) hn::LoadInterleaved3(d, from, a, b, c);
    if constexpr (channels == 4) hn::LoadInterleaved4(d, from, a, b, c, e);
    hn::StoreU(a, d, out + x);
    hn::StoreU(b, d, out + plane + x);
    if constexpr (channels >= 3) hn::StoreU(c, d, out + 2 * plane + x);
    if constexpr (channels == 4) hn::StoreU(e, d, out + 3 * plane + x);
  }
#endif
  for (; x < width; ++x)
    for (std::size_t c = 0; c < channels; ++c) out[c * plane + x] = row[x * channels + c];
}

void split_any(const std::uint8_t* row, std::size_t width, int channels, std::uint8_t* out, std::size_t plane) {
  switch (channels) {
    case 1:
      for (std::size_t x = 0; x < width; ++x) out[x] = row[x];
      return;
    case 2:
      return split<2>(row, width, out, plane);
    case 3:
      return split<3>(row, width, out, plane);
    default:
      return split<4>(row, width, out, plane);
  }
}

template <std::size_t period>
void to_float(const std::uint8_t* row, std::size_t count, const float* scale, const float* bias, float* out) {
  std::size_t j = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::ScalableTag<float> d;
  const hn::RebindToSigned<decltype(d)> di;
  const hn::Rebind<std::uint8_t, decltype(d)> d8;
  const std::size_t lanes = hn::Lanes(d);
  HWY_ALIGN float pattern[2][period * hn::MaxLanes(d)];
  for (std::size_t i = 0; i < period * lanes; ++i) {
    pattern[0][i] = scale[i % period];
    pattern[1][i] = bias[i % period];
  }
  for (; j + period * lanes <= count; j += period * lanes) {
    for (std::size_t p = 0; p < period; ++p) {
      const std::size_t at = p * lanes;
      const auto v = hn::ConvertTo(d, hn::PromoteTo(di, hn::LoadU(d8, row + j + at)));
      hn::StoreU(hn::Add(hn::Mul(v, hn::Load(d, pattern[0] + at)), hn::Load(d, pattern[1] + at)), d, out + j + at);
    }
  }
#endif
  for (; j < count; ++j) {
    const float product = static_cast<float>(row[j]) * scale[j % period];
    out[j] = product + bias[j % period];
  }
}

void to_float_any(const std::uint8_t* row, std::size_t count, int period, const float* scale, const float* bias,
                  float* out) {
  switch (period) {
    case 1:
      return to_float<1>(row, count, scale, bias, out);
    case 2:
      return to_float<2>(row, count, scale, bias, out);
    case 3:
      return to_float<3>(row, count, scale, bias, out);
    default:
      return to_float<4>(row, count, scale, bias, out);
  }
}

ReverseRow get_reverse() { return reverse_any; }
SplitRow get_split() { return split_any; }
FloatRow get_float() { return to_float_any; }

}  // namespace HWY_NAMESPACE
}  // namespace penstock::image
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace penstock::image {

HWY_EXPORT(get_reverse);
HWY_EXPORT(get_split);
HWY_EXPORT(get_float);
ReverseRow reverse_row() { return HWY_DYNAMIC_DISPATCH(get_reverse)(); }
SplitRow split_row() { return HWY_DYNAMIC_DISPATCH(get_split)(); }
FloatRow float_row() { return HWY_DYNAMIC_DISPATCH(get_float)(); }

}  // namespace penstock::image
#endif
