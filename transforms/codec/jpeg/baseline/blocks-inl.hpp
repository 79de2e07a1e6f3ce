// SPDX-License-Identifier: Apache-2.0
// Code that the kernels of inverse DCTs share: blocks that are transformed together, in one register. This file is
// included once per instruction set, so it has its own guard.
#if defined(PENSTOCK_JPEG_BLOCKS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PENSTOCK_JPEG_BLOCKS_INL
#undef PENSTOCK_JPEG_BLOCKS_INL
#else
#define PENSTOCK_JPEG_BLOCKS_INL
#endif

#include <algorithm>

#include "inverse_dct_plain.hpp"
#include "vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace penstock::jpeg::baseline {
namespace HWY_NAMESPACE {
#if HWY_TARGET != HWY_SCALAR

// Returns x * 2^Bits, plus half of 2^Shift, so that a shift by `Shift` rounds.
template <int Shift, int Bits = 13>
HWY_INLINE Halves scaled(Words x) {
  const Ints round = hn::Set(ints, 1 << (Shift - 1));
  const Words zero = hn::Zero(words);
  const auto wide = [&](Words at_top)
                        HWY_ATTR { return hn::Add(hn::ShiftRight<16 - Bits>(hn::BitCast(ints, at_top)), round); };
  return {wide(hn::InterleaveLower(words, zero, x)), wide(hn::InterleaveUpper(words, zero, x))};
}

template <int Shift>
HWY_INLINE Words descaled(Halves sum) {
  return hn::ReorderDemote2To(words, hn::ShiftRight<Shift>(sum.low), hn::ShiftRight<Shift>(sum.high));
}

// The blocks that are transformed together, and where their values go. A block may be in the list more than once.
struct Together {
  Block* blocks[blocks_together];
  std::uint8_t* to[blocks_together];
  std::ptrdiff_t stride;
};

// Loads row `row` of the blocks' coefficients, multiplied by the quantization.
HWY_INLINE Words load_row(const Together& t, const std::int16_t* quantization, int row) {
  const std::int16_t* at[blocks_together];
  for (std::size_t i = 0; i < blocks_together; ++i) at[i] = t.blocks[i]->coefficients + 8 * row;
  return hn::Mul(load_blocks(at), hn::LoadDup128(words, quantization + 8 * row));
}

// Returns lanes that are not 0 if the sum of a column's absolute values is above `largest_column`.
template <int Rows>
HWY_INLINE Words above_largest_column(const Words (&x)[8]) {
  Words sum = hn::Zero(words);
  for (int row = 0; row < Rows; ++row)
    sum = hn::SaturatedAdd(sum, hn::Max(x[row], hn::SaturatedSub(hn::Zero(words), x[row])));
  return hn::VecFromMask(words, hn::Gt(sum, hn::Set(words, largest_column)));
}

HWY_INLINE void clear(Block& used) {
  const Words zero = hn::Zero(words);
  for (std::size_t i = 0; i < 64; i += hn::Lanes(words)) hn::Store(zero, words, used.coefficients + i);
}

// Calls `transform(together, n)` for blocks n, n + 1, ... of `order`, as many as a register has, and sets them to 0.
// `order` has numbers of blocks of the job. Returns what `transform` returns, by `or`.
template <class Transform>
HWY_INLINE Words for_together(const BlocksToValues& job, const std::uint8_t* order, int count,
                              const Transform& transform) {
  constexpr int together = static_cast<int>(blocks_together);
  Words all = hn::Zero(words);
  for (int n = 0; n < count; n += together) {
    Together t;
    t.stride = job.stride;
    for (int k = 0; k < together; ++k) {
      const int i = order[std::min(n + k, count - 1)];
      t.blocks[k] = &job.blocks[job.from[i]];
      t.to[k] = job.values + job.to[i];
    }
    all = hn::Or(all, transform(t, n));
    for (Block* const used : t.blocks) clear(*used);
  }
  return all;
}

#endif
}  // namespace HWY_NAMESPACE
}  // namespace penstock::jpeg::baseline
HWY_AFTER_NAMESPACE();

#endif
