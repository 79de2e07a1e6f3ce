// SPDX-License-Identifier: Apache-2.0
// The horizontal pass for 3 and 4 channels: one output pixel per 128-bit block. This file is included once per target.
#if defined(PENSTOCK_IMAGE_BLOCKS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PENSTOCK_IMAGE_BLOCKS_INL
#undef PENSTOCK_IMAGE_BLOCKS_INL
#else
#define PENSTOCK_IMAGE_BLOCKS_INL
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace penstock::image {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_HAVE_SCALABLE
inline constexpr std::size_t blocks = 1;
#else
inline constexpr std::size_t blocks = HWY_MAX_BYTES / 16;
#endif
// Works on four vectors together, which make a group of pixels. Block b of vector v makes pixel 4 b + v of the group,
// so that the output is in order.
inline constexpr std::size_t group_pixels = 4 * blocks;

using BytesTag = hn::CappedTag<std::uint8_t, blocks * 16>;
using SumsTag = hn::Repartition<std::int32_t, BytesTag>;
using PairsTag = hn::Repartition<std::int16_t, BytesTag>;

HWY_INLINE std::size_t blocks_groups(const Axis& axis) {
  return (static_cast<std::size_t>(axis.count) + group_pixels - 1) / group_pixels;
}

// First in the tables is each pixel's start: the byte of the row at which the pixel's inputs begin. Starts are ordered
// by group, vector and block. Then come pairs of weights, ordered by group, pair, vector and block. Each pair is there
// four times.
HWY_INLINE std::size_t blocks_bytes(const Axis& axis) {
  const std::size_t groups = blocks_groups(axis);
  const std::size_t starts = (groups * group_pixels * sizeof(std::int32_t) + 63) / 64 * 64;
  return starts + groups * group_pixels * static_cast<std::size_t>(axis.taps) / 2 * 16;
}

inline void blocks_prepare(HorizontalPlan& plan) {
  const Axis& axis = *plan.axis;
  const std::size_t groups = blocks_groups(axis);
  const std::size_t pairs = static_cast<std::size_t>(axis.taps) / 2;
  auto* starts = reinterpret_cast<std::int32_t*>(plan.tables);
  std::byte* weights = plan.tables + (groups * group_pixels * sizeof(std::int32_t) + 63) / 64 * 64;
  const hn::CappedTag<std::uint32_t, 4> d4;
  for (std::size_t g = 0; g < groups; ++g) {
    for (std::size_t v = 0; v < 4; ++v) {
      for (std::size_t b = 0; b < blocks; ++b) {
        const std::size_t x = g * group_pixels + 4 * b + v;
        const bool real = x < static_cast<std::size_t>(axis.count);
        const auto i = static_cast<std::int32_t>(real ? x : 0);
        starts[(g * 4 + v) * blocks + b] = axis.start[i] * plan.channels;
        const std::int16_t* from = axis.weights_of<std::int16_t>(i);
        for (std::size_t p = 0; p < pairs; ++p) {
          std::uint32_t pair = 0;
          if (real) std::memcpy(&pair, from + 2 * p, sizeof(pair));
          auto* to = reinterpret_cast<std::uint32_t*>(weights + (((g * pairs + p) * 4 + v) * blocks + b) * 16);
          hn::StoreU(hn::Set(d4, pair), d4, to);
        }
      }
    }
  }
}

// Loads the 16 bytes at `starts[b]` of the row into each block b.
HWY_INLINE hn::Vec<BytesTag> load_blocks(const std::uint8_t* row, const std::int32_t* starts) {
  const hn::CappedTag<std::uint8_t, 16> d1;
#if HWY_HAVE_SCALABLE || HWY_MAX_BYTES <= 16
  return hn::LoadU(d1, row + starts[0]);
#elif HWY_MAX_BYTES == 32
  return hn::Combine(BytesTag(), hn::LoadU(d1, row + starts[1]), hn::LoadU(d1, row + starts[0]));
#else
  const hn::Half<BytesTag> d2;
  const auto low = hn::Combine(d2, hn::LoadU(d1, row + starts[1]), hn::LoadU(d1, row + starts[0]));
  const auto high = hn::Combine(d2, hn::LoadU(d1, row + starts[3]), hn::LoadU(d1, row + starts[2]));
  return hn::Combine(BytesTag(), high, low);
#endif
}

// Returns a vector that has the 128-bit table in every block.
HWY_INLINE hn::Vec<BytesTag> every_block(const std::uint8_t* table) { return hn::LoadDup128(BytesTag(), table); }

// This is one function because the eight sums must stay in vector registers from the first load to the store.
template <int channels>
void blocks_run(const HorizontalPlan& plan, const std::uint8_t* row, std::uint8_t* out) {
  const BytesTag d8;
  const SumsTag d32;
  const PairsTag d16;
  using Sums = hn::Vec<SumsTag>;
  const Axis& axis = *plan.axis;
  const std::size_t groups = blocks_groups(axis);
  const std::size_t pairs = static_cast<std::size_t>(axis.taps) / 2;
  const auto* starts = reinterpret_cast<const std::int32_t*>(plan.tables);
  const auto* weights = reinterpret_cast<const std::int16_t*>(
      plan.tables + (groups * group_pixels * sizeof(std::int32_t) + 63) / 64 * 64);
  // The first table moves channel c of taps 0 and 1 to the two 16-bit halves of 32-bit lane c. The second table does
  // the same with taps 2 and 3. Indices of 128 and above make 0.
  alignas(16) static constexpr std::uint8_t pick3[2][16] = {
      {0, 128, 3, 128, 1, 128, 4, 128, 2, 128, 5, 128, 128, 128, 128, 128},
      {6, 128, 9, 128, 7, 128, 10, 128, 8, 128, 11, 128, 128, 128, 128, 128}};
  alignas(16) static constexpr std::uint8_t pick4[2][16] = {
      {0, 128, 4, 128, 1, 128, 5, 128, 2, 128, 6, 128, 3, 128, 7, 128},
      {8, 128, 12, 128, 9, 128, 13, 128, 10, 128, 14, 128, 11, 128, 15, 128}};
  // Table v moves the low byte of lane c to byte channels * v + c.
  alignas(16) static constexpr std::uint8_t pack3[4][16] = {
      {0, 4, 8, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128},
      {128, 128, 128, 0, 4, 8, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128},
      {128, 128, 128, 128, 128, 128, 0, 4, 8, 128, 128, 128, 128, 128, 128, 128},
      {128, 128, 128, 128, 128, 128, 128, 128, 128, 0, 4, 8, 128, 128, 128, 128}};
  alignas(16) static constexpr std::uint8_t pack4[4][16] = {
      {0, 4, 8, 12, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128},
      {128, 128, 128, 128, 0, 4, 8, 12, 128, 128, 128, 128, 128, 128, 128, 128},
      {128, 128, 128, 128, 128, 128, 128, 128, 0, 4, 8, 12, 128, 128, 128, 128},
      {128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 0, 4, 8, 12}};
  const auto first_taps = every_block(channels == 3 ? pick3[0] : pick4[0]);
  const auto next_taps = every_block(channels == 3 ? pick3[1] : pick4[1]);
  const auto round = hn::Set(d32, 8192);
  constexpr std::size_t lanes16 = blocks * 8;

  for (std::size_t g = 0; g < groups; ++g, starts += group_pixels) {
    Sums sum0 = hn::Zero(d32), sum1 = sum0, sum2 = sum0, sum3 = sum0;
    Sums high0 = sum0, high1 = sum0, high2 = sum0, high3 = sum0;
    for (std::size_t p = 0; p < pairs; p += 2) {
      const std::uint8_t* at = row + p * 2 * channels;
      const auto v0 = load_blocks(at, starts), v1 = load_blocks(at, starts + blocks);
      const auto v2 = load_blocks(at, starts + 2 * blocks), v3 = load_blocks(at, starts + 3 * blocks);
      const auto add = [&](hn::Vec<BytesTag> taps) HWY_ATTR {
        const auto dot = [&](hn::Vec<BytesTag> v, std::size_t n, Sums sum, Sums& high) HWY_ATTR {
          return hn::ReorderWidenMulAccumulate(d32, hn::BitCast(d16, hn::TableLookupBytesOr0(v, taps)),
                                               hn::LoadU(d16, weights + n * lanes16), sum, high);
        };
        sum0 = dot(v0, 0, sum0, high0);
        sum1 = dot(v1, 1, sum1, high1);
        sum2 = dot(v2, 2, sum2, high2);
        sum3 = dot(v3, 3, sum3, high3);
        weights += 4 * lanes16;
      };
      add(first_taps);
      if (p + 1 < pairs) add(next_taps);
    }
    // `round` is added to the totals, because CPUs differ in which products are added to `sum`, and which to `high`.
    const auto pack = [&](Sums sum, Sums high, const std::uint8_t* table) HWY_ATTR {
      const auto level = hn::ShiftRight<14>(hn::Add(hn::RearrangeToOddPlusEven(sum, high), round));
      return hn::TableLookupBytesOr0(hn::BitCast(d8, level), every_block(table));
    };
    const auto pixels = hn::Or(hn::Or(pack(sum0, high0, channels == 3 ? pack3[0] : pack4[0]),
                                      pack(sum1, high1, channels == 3 ? pack3[1] : pack4[1])),
                               hn::Or(pack(sum2, high2, channels == 3 ? pack3[2] : pack4[2]),
                                      pack(sum3, high3, channels == 3 ? pack3[3] : pack4[3])));
    alignas(64) std::uint8_t bytes[blocks * 16];
    hn::Store(pixels, d8, bytes);
    // With 3 channels, each copy writes 4 bytes too many. The next copy overwrites them.
    for (std::size_t b = 0; b < blocks; ++b, out += 4 * channels) std::memcpy(out, bytes + 16 * b, 16);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace penstock::image
HWY_AFTER_NAMESPACE();

#endif
