// SPDX-License-Identifier: Apache-2.0
// Code that the kernels share. Registers have one, two or four blocks of 16 bytes. Most operations work inside a block.
// This file is included once per instruction set, so it has its own guard.
#if defined(PENSTOCK_JPEG_VECTORS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PENSTOCK_JPEG_VECTORS_INL
#undef PENSTOCK_JPEG_VECTORS_INL
#else
#define PENSTOCK_JPEG_VECTORS_INL
#endif

#include <cstddef>
#include <cstdint>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace penstock::jpeg::baseline {
namespace HWY_NAMESPACE {
#if HWY_TARGET != HWY_SCALAR  // HWY_SCALAR has registers of one value; plain C++ is used instead
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
inline constexpr std::size_t blocks_together = 4;
#elif HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
inline constexpr std::size_t blocks_together = 2;
#else
inline constexpr std::size_t blocks_together = 1;
#endif

using BlockTag = hn::FixedTag<std::uint8_t, 16>;
using WordsBlockTag = hn::FixedTag<std::int16_t, 8>;
using WordsTag = hn::FixedTag<std::int16_t, 8 * blocks_together>;
using IntsTag = hn::RepartitionToWide<WordsTag>;
using LongsTag = hn::RepartitionToWide<IntsTag>;
using BytesTag = hn::Repartition<std::uint8_t, WordsTag>;
using Words = hn::Vec<WordsTag>;
using Ints = hn::Vec<IntsTag>;
using Bytes = hn::Vec<BytesTag>;

inline constexpr BlockTag block;
inline constexpr WordsBlockTag words_block;
inline constexpr WordsTag words;
inline constexpr IntsTag ints;
inline constexpr LongsTag longs;
inline constexpr BytesTag bytes;

// Returns block I of a register.
template <std::size_t I>
HWY_INLINE hn::Vec<BlockTag> nth_block(Bytes v) {
  static_assert(I < blocks_together);
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  return hn::Vec<BlockTag>{_mm512_extracti32x4_epi32(v.raw, I)};
#elif HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
  return hn::Vec<BlockTag>{_mm256_extracti128_si256(v.raw, I)};
#else
  return v;
#endif
}

// Returns a register in which block i has the eight words at `at[i]`.
HWY_INLINE Words load_blocks(const std::int16_t* const (&at)[blocks_together]) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
  const auto two = [&](std::size_t i) HWY_ATTR {
    return hn::Combine(hn::FixedTag<std::int16_t, 16>(), hn::Load(words_block, at[i + 1]),
                       hn::Load(words_block, at[i]));
  };
#if HWY_TARGET <= HWY_AVX3
  return hn::Combine(words, two(2), two(0));
#else
  return two(0);
#endif
#else
  return hn::Load(words_block, at[0]);
#endif
}

// Converts 16 bits to 8; values out of range become the nearest value in range. Each block of the result has eight
// values of a and eight of b.
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
HWY_INLINE Bytes saturated_signed(Words a, Words b) { return Bytes{_mm512_packs_epi16(a.raw, b.raw)}; }
HWY_INLINE Bytes saturated(Words a, Words b) { return Bytes{_mm512_packus_epi16(a.raw, b.raw)}; }
#elif HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
HWY_INLINE Bytes saturated_signed(Words a, Words b) { return Bytes{_mm256_packs_epi16(a.raw, b.raw)}; }
HWY_INLINE Bytes saturated(Words a, Words b) { return Bytes{_mm256_packus_epi16(a.raw, b.raw)}; }
#else
HWY_INLINE Bytes saturated_signed(Words a, Words b) {
  const hn::FixedTag<std::int8_t, 8> half;
  const hn::FixedTag<std::int8_t, 16> whole;
  return hn::BitCast(bytes, hn::Combine(whole, hn::DemoteTo(half, b), hn::DemoteTo(half, a)));
}
HWY_INLINE Bytes saturated(Words a, Words b) {
  const hn::FixedTag<std::uint8_t, 8> half;
  return hn::Combine(bytes, hn::DemoteTo(half, b), hn::DemoteTo(half, a));
}
#endif

// Eight values per block, in 32 bits: `low` has the first four values, and `high` the last four.
struct Halves {
  Ints low, high;
};
HWY_INLINE Halves operator+(Halves a, Halves b) { return {hn::Add(a.low, b.low), hn::Add(a.high, b.high)}; }
HWY_INLINE Halves operator-(Halves a, Halves b) { return {hn::Sub(a.low, b.low), hn::Sub(a.high, b.high)}; }

// Returns a * ByA + b * ByB.
template <int ByA, int ByB>
HWY_INLINE Halves products(Words a, Words b) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_SSSE3
  constexpr auto pair = static_cast<std::int32_t>(static_cast<std::uint32_t>(static_cast<std::uint16_t>(ByA)) |
                                                  static_cast<std::uint32_t>(static_cast<std::uint16_t>(ByB)) << 16);
  const Words by = hn::BitCast(words, hn::Set(ints, pair));
  Ints none = hn::Zero(ints);
  return {hn::ReorderWidenMulAccumulate(ints, hn::InterleaveLower(words, a, b), by, none, none),
          hn::ReorderWidenMulAccumulate(ints, hn::InterleaveUpper(words, a, b), by, none, none)};
#else
  const Ints by_a = hn::Set(ints, ByA), by_b = hn::Set(ints, ByB);
  const auto sum = [&](auto x, auto y) HWY_ATTR {
    return hn::Add(hn::Mul(hn::PromoteTo(ints, x), by_a), hn::Mul(hn::PromoteTo(ints, y), by_b));
  };
  const hn::FixedTag<std::int16_t, 4> half;
  return {sum(hn::LowerHalf(half, a), hn::LowerHalf(half, b)), sum(hn::UpperHalf(half, a), hn::UpperHalf(half, b))};
#endif
}

#endif
}  // namespace HWY_NAMESPACE
}  // namespace penstock::jpeg::baseline
HWY_AFTER_NAMESPACE();

#endif
