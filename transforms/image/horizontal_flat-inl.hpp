// SPDX-License-Identifier: Apache-2.0
// The horizontal pass for CPUs that can permute bytes freely across 512 bits: any number of channels, 16 output bytes
// at a time. This file is included once per target.
#if defined(PENSTOCK_IMAGE_FLAT_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PENSTOCK_IMAGE_FLAT_INL
#undef PENSTOCK_IMAGE_FLAT_INL
#else
#define PENSTOCK_IMAGE_FLAT_INL
#endif

#include <hwy/highway.h>

#undef PENSTOCK_IMAGE_FLAT
#if HWY_TARGET == HWY_AVX3_DL
#define PENSTOCK_IMAGE_FLAT 1
#else
#define PENSTOCK_IMAGE_FLAT 0
#endif

#if PENSTOCK_IMAGE_FLAT
HWY_BEFORE_NAMESPACE();
namespace penstock::image {
namespace HWY_NAMESPACE {

HWY_INLINE std::size_t flat_groups(const Axis& axis, int channels) {
  return (static_cast<std::size_t>(axis.count) * static_cast<std::size_t>(channels) + 15) / 16;
}

// First and last output pixel of a group of 16 output bytes, and the lower of these two pixels' starts. Along a row,
// starts only rise or only fall, so this start is the lowest in the group.
struct FlatGroup {
  std::int32_t first, last, low;
};
HWY_INLINE FlatGroup flat_group(const Axis& axis, int channels, std::size_t g) {
  FlatGroup group;
  group.first = static_cast<std::int32_t>(g * 16) / channels;
  group.last = static_cast<std::int32_t>(g * 16 + 15) / channels;
  if (group.last >= axis.count) group.last = axis.count - 1;
  const std::int32_t a = axis.start[group.first], b = axis.start[group.last];
  group.low = a < b ? a : b;
  return group;
}

// Returns whether the inputs of each group are within 64 bytes.
inline bool flat_fits(const Axis& axis, int channels) {
  const std::size_t groups = flat_groups(axis, channels);
  for (std::size_t g = 0; g < groups; ++g) {
    const FlatGroup group = flat_group(axis, channels, g);
    const std::int32_t a = axis.start[group.first], b = axis.start[group.last];
    if (((a < b ? b : a) - group.low + axis.taps) * channels > 64) return false;
  }
  return true;
}

// First in the tables is each group's start: the byte of the row at which the group's inputs begin. Then come, for each
// group and each pair of taps, 64 bytes of indices and 64 bytes of weights.
HWY_INLINE std::size_t flat_bytes(const Axis& axis, int channels) {
  const std::size_t groups = flat_groups(axis, channels);
  return (groups * sizeof(std::int32_t) + 63) / 64 * 64 + groups * static_cast<std::size_t>(axis.taps) / 2 * 128;
}

inline void flat_prepare(HorizontalPlan& plan) {
  const Axis& axis = *plan.axis;
  const int channels = plan.channels;
  const std::size_t groups = flat_groups(axis, channels);
  const std::size_t pairs = static_cast<std::size_t>(axis.taps) / 2;
  auto* bases = reinterpret_cast<std::int32_t*>(plan.tables);
  std::byte* table = plan.tables + (groups * sizeof(std::int32_t) + 63) / 64 * 64;
  std::int32_t x = 0, c = 0;
  for (std::size_t g = 0; g < groups; ++g) {
    const std::int32_t low = flat_group(axis, channels, g).low;
    bases[g] = low * channels;
    auto* to = reinterpret_cast<std::uint32_t*>(table + g * pairs * 128);
    for (std::size_t lane = 0; lane < 16; ++lane) {
      const bool real = x < axis.count;
      const std::int32_t i = real ? x : 0;
      const std::int16_t* weights = axis.weights_of<std::int16_t>(i);
      const auto at = static_cast<std::uint32_t>(real ? (axis.start[i] - low) * channels + c : 0);
      std::uint32_t index = at | (at + static_cast<std::uint32_t>(channels)) << 16;
      for (std::size_t p = 0; p < pairs; ++p) {
        std::uint32_t pair = 0;
        if (real) std::memcpy(&pair, weights + 2 * p, sizeof(pair));
        to[p * 32 + lane] = index;
        to[p * 32 + 16 + lane] = pair;
        index += static_cast<std::uint32_t>(channels) * 0x20002u;
      }
      if (++c == channels) {
        c = 0;
        ++x;
      }
    }
  }
}

// Makes two rows together, so that each load from the tables serves two rows. Loads limit the speed.
template <std::size_t pairs_known>
void flat_rows(const HorizontalPlan& plan, const RowPair& given) {
  const RowPair rows = given;  // a copy, because `given` would be read again after each store of bytes
  const std::size_t groups = flat_groups(*plan.axis, plan.channels);
  const std::size_t pairs = pairs_known != 0 ? pairs_known : static_cast<std::size_t>(plan.axis->taps) / 2;
  const auto* bases = reinterpret_cast<const std::int32_t*>(plan.tables);
  const std::byte* table = plan.tables + (groups * sizeof(std::int32_t) + 63) / 64 * 64;
  const __mmask64 even = 0x5555555555555555u;
  const auto levels = [](__m512i sum) HWY_ATTR { return _mm512_cvtepi32_epi8(_mm512_srai_epi32(sum, 14)); };
  const auto each = [&](std::size_t g, const auto& store) HWY_ATTR {
    const __m512i a = _mm512_loadu_si512(rows.from[0] + bases[g]), b = _mm512_loadu_si512(rows.from[1] + bases[g]);
    __m512i sum_a = _mm512_set1_epi32(8192), sum_b = sum_a;
    for (std::size_t p = 0; p < pairs; ++p, table += 128) {
      const __m512i from = _mm512_load_si512(table), weights = _mm512_load_si512(table + 64);
      sum_a = _mm512_add_epi32(sum_a, _mm512_madd_epi16(_mm512_maskz_permutexvar_epi8(even, from, a), weights));
      sum_b = _mm512_add_epi32(sum_b, _mm512_madd_epi16(_mm512_maskz_permutexvar_epi8(even, from, b), weights));
    }
    store(rows.out[0] + 16 * g, levels(sum_a));
    store(rows.out[1] + 16 * g, levels(sum_b));
  };
  const std::size_t last = groups - 1;
  for (std::size_t g = 0; g < last; ++g)
    each(g, [](std::uint8_t* to, __m128i v) HWY_ATTR { _mm_storeu_si128(reinterpret_cast<__m128i*>(to), v); });
  // Must not write beyond a row: the second row may begin where the first one ends, and its beginning may already
  // be written.
  const std::size_t left = static_cast<std::size_t>(plan.axis->count * plan.channels) - 16 * last;
  const auto kept = static_cast<__mmask16>((1u << left) - 1);
  each(last, [kept](std::uint8_t* to, __m128i v) HWY_ATTR { _mm_mask_storeu_epi8(to, kept, v); });
}

inline void flat_run(const HorizontalPlan& plan, const RowPair& rows) {
  switch (plan.axis->taps / 2) {
    case 1:
      return flat_rows<1>(plan, rows);
    case 2:
      return flat_rows<2>(plan, rows);
    case 3:
      return flat_rows<3>(plan, rows);
    default:
      return flat_rows<0>(plan, rows);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace penstock::image
HWY_AFTER_NAMESPACE();
#endif  // PENSTOCK_IMAGE_FLAT

#endif
