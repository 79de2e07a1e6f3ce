// SPDX-License-Identifier: Apache-2.0
#include "inverse_dct.hpp"

#include <algorithm>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "inverse_dct.cpp"
// Must be included before Highway's headers.
#include "simd_targets.hpp"

#include <hwy/foreach_target.h>
// Must follow foreach_target.h, which includes this file once per target.
#include <hwy/highway.h>

#include "blocks-inl.hpp"
#include "inverse_dct_plain.hpp"
#include "reduced_dct.hpp"
#include "scan_reader.hpp"
#include "vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace penstock::jpeg::baseline {
namespace HWY_NAMESPACE {
#if HWY_TARGET == HWY_SCALAR

InverseDct get_inverse_dct() { return inverse_dct_plain; }

#else

// Transforms x[0] to x[7] lane by lane. A register has eight lanes for each of its blocks.
template <int Shift>
HWY_INLINE void transform(Words (&x)[8]) {
  const Halves e3 = products<c0541 + c0765, c0541>(x[2], x[6]), e2 = products<c0541, c0541 - c1847>(x[2], x[6]);
  const Halves e0 = scaled<Shift>(hn::Add(x[0], x[4])), e1 = scaled<Shift>(hn::Sub(x[0], x[4]));
  const Halves even0 = e0 + e3, even3 = e0 - e3, even1 = e1 + e2, even2 = e1 - e2;
  const Words z3 = hn::Add(x[7], x[3]), z4 = hn::Add(x[5], x[1]);
  const Halves s3 = products<c1175 - c1961, c1175>(z3, z4), s4 = products<c1175, c1175 - c0390>(z3, z4);
  const Halves odd0 = products<c0298 - c0899, -c0899>(x[7], x[1]) + s3;
  const Halves odd3 = products<-c0899, c1501 - c0899>(x[7], x[1]) + s4;
  const Halves odd1 = products<c2053 - c2562, -c2562>(x[5], x[3]) + s4;
  const Halves odd2 = products<-c2562, c3072 - c2562>(x[5], x[3]) + s3;
  x[0] = descaled<Shift>(even0 + odd3);
  x[7] = descaled<Shift>(even0 - odd3);
  x[1] = descaled<Shift>(even1 + odd2);
  x[6] = descaled<Shift>(even1 - odd2);
  x[2] = descaled<Shift>(even2 + odd1);
  x[5] = descaled<Shift>(even2 - odd1);
  x[3] = descaled<Shift>(even3 + odd0);
  x[4] = descaled<Shift>(even3 - odd0);
}

// Finishes a transform in which x[4] to x[7] are 0. The odd sums then depend only on x[1] and x[3]. For an odd sum,
// transform() multiplies an input by several factors and adds the products. low_sums() multiplies the input once, by
// the sum of these factors.
template <int Shift>
HWY_INLINE void finish_half(Ints e0, Ints e2, Ints e3, const Ints (&odd)[4], Ints (&out)[8]) {
  const auto put = [&](int k, Ints even, Ints o) HWY_ATTR {
    out[k] = hn::ShiftRight<Shift>(hn::Add(even, o));
    out[7 - k] = hn::ShiftRight<Shift>(hn::Sub(even, o));
  };
  put(0, hn::Add(e0, e3), odd[3]);
  put(1, hn::Add(e0, e2), odd[2]);
  put(2, hn::Sub(e0, e2), odd[1]);
  put(3, hn::Sub(e0, e3), odd[0]);
}

struct LowSums {
  Halves e0, e2, e3, odd[4];
};
template <int Shift>
HWY_INLINE LowSums low_sums(const Words (&x)[8]) {
  const Words zero = hn::Zero(words);
  return {scaled<Shift>(x[0]),
          products<c0541, 0>(x[2], zero),
          products<c0541 + c0765, 0>(x[2], zero),
          {products<c1175 - c0899, c1175 - c1961>(x[1], x[3]), products<c1175 - c0390, c1175 - c2562>(x[1], x[3]),
           products<c1175, c1175 - c1961 + c3072 - c2562>(x[1], x[3]),
           products<c1175 - c0390 + c1501 - c0899, c1175>(x[1], x[3])}};
}

// Transforms the columns of blocks in which only the first four rows and columns are not 0. Transposes the result, so
// that x[0] to x[3] are the inputs of transform_low_rows().
HWY_INLINE void transform_low_columns(Words (&x)[8]) {
  const LowSums s = low_sums<columns_shift>(x);
  const Ints odd[4] = {s.odd[0].low, s.odd[1].low, s.odd[2].low, s.odd[3].low};
  Ints r[8];
  finish_half<columns_shift>(s.e0.low, s.e2.low, s.e3.low, odd, r);
  const Words r04 = hn::ReorderDemote2To(words, r[0], r[4]), r15 = hn::ReorderDemote2To(words, r[1], r[5]),
              r26 = hn::ReorderDemote2To(words, r[2], r[6]), r37 = hn::ReorderDemote2To(words, r[3], r[7]);
  // Interleaves pairs of rows, then four rows. A register of four rows has two of their columns.
  const Ints r01 = hn::BitCast(ints, hn::InterleaveLower(words, r04, r15)),
             r45 = hn::BitCast(ints, hn::InterleaveUpper(words, r04, r15)),
             r23 = hn::BitCast(ints, hn::InterleaveLower(words, r26, r37)),
             r67 = hn::BitCast(ints, hn::InterleaveUpper(words, r26, r37));
  const auto c01 = hn::BitCast(longs, hn::InterleaveLower(ints, r01, r23)),
             c23 = hn::BitCast(longs, hn::InterleaveUpper(ints, r01, r23)),
             d01 = hn::BitCast(longs, hn::InterleaveLower(ints, r45, r67)),
             d23 = hn::BitCast(longs, hn::InterleaveUpper(ints, r45, r67));
  x[0] = hn::BitCast(words, hn::InterleaveLower(longs, c01, d01));
  x[1] = hn::BitCast(words, hn::InterleaveUpper(longs, c01, d01));
  x[2] = hn::BitCast(words, hn::InterleaveLower(longs, c23, d23));
  x[3] = hn::BitCast(words, hn::InterleaveUpper(longs, c23, d23));
}

HWY_INLINE void transform_low_rows(Words (&x)[8]) {
  const LowSums s = low_sums<rows_shift>(x);
  const Ints odd_low[4] = {s.odd[0].low, s.odd[1].low, s.odd[2].low, s.odd[3].low},
             odd_high[4] = {s.odd[0].high, s.odd[1].high, s.odd[2].high, s.odd[3].high};
  Ints low[8], high[8];
  finish_half<rows_shift>(s.e0.low, s.e2.low, s.e3.low, odd_low, low);
  finish_half<rows_shift>(s.e0.high, s.e2.high, s.e3.high, odd_high, high);
  for (int k = 0; k < 8; ++k) x[k] = hn::ReorderDemote2To(words, low[k], high[k]);
}

HWY_INLINE void transpose(Words (&x)[8]) {
  Words a[8], b[8];
  for (int i = 0; i < 4; ++i) {
    a[2 * i] = hn::InterleaveLower(words, x[i], x[i + 4]);
    a[2 * i + 1] = hn::InterleaveUpper(words, x[i], x[i + 4]);
  }
  for (int i = 0; i < 4; ++i) {
    b[2 * i] = hn::InterleaveLower(words, a[i], a[i + 4]);
    b[2 * i + 1] = hn::InterleaveUpper(words, a[i], a[i + 4]);
  }
  for (int i = 0; i < 4; ++i) {
    x[2 * i] = hn::InterleaveLower(words, b[i], b[i + 4]);
    x[2 * i + 1] = hn::InterleaveUpper(words, b[i], b[i + 4]);
  }
}

// Stores two rows of each block: `row` and the next row. Each row is stored as a double, because x86 can store the
// upper half of a pair of doubles with one instruction.
template <std::size_t I = 0>
HWY_INLINE void store_rows(Bytes rows, int row, const Together& t) {
  const hn::FixedTag<double, 2> pair;
  const hn::FixedTag<double, 1> one;
  const auto both = hn::BitCast(pair, nth_block<I>(rows));
  std::uint8_t* const at = t.to[I] + row * t.stride;
  hn::StoreU(hn::LowerHalf(one, both), one, reinterpret_cast<double*>(at));
  hn::StoreU(hn::UpperHalf(one, both), one, reinterpret_cast<double*>(at + t.stride));
  if constexpr (I + 1 < blocks_together) store_rows<I + 1>(rows, row, t);
}

// Stores columns x[0] to x[7] as rows of bytes. Adds 128 to the values of `x`, which are centred at 0. Values beyond 8
// bits become the nearest value in range.
HWY_INLINE void store_columns(const Words (&x)[8], const Together& t) {
  const auto center = hn::Set(bytes, 128);
  const auto pack = [&](Words a, Words b) HWY_ATTR { return hn::Xor(saturated_signed(a, b), center); };
  const Bytes c04 = pack(x[0], x[4]), c15 = pack(x[1], x[5]), c26 = pack(x[2], x[6]), c37 = pack(x[3], x[7]);
  const Bytes c02 = hn::InterleaveLower(bytes, c04, c26), c46 = hn::InterleaveUpper(bytes, c04, c26);
  const Bytes c13 = hn::InterleaveLower(bytes, c15, c37), c57 = hn::InterleaveUpper(bytes, c15, c37);
  // Columns 0 to 3 are in a and b, and columns 4 to 7 in c and d. Rows 0 to 3 are in a and c, and rows 4 to 7 in b and
  // d.
  const auto left = [&](auto v) HWY_ATTR { return hn::BitCast(ints, v); };
  const Ints a = left(hn::InterleaveLower(bytes, c02, c13)), b = left(hn::InterleaveUpper(bytes, c02, c13));
  const Ints c = left(hn::InterleaveLower(bytes, c46, c57)), d = left(hn::InterleaveUpper(bytes, c46, c57));
  store_rows(hn::BitCast(bytes, hn::InterleaveLower(ints, a, c)), 0, t);
  store_rows(hn::BitCast(bytes, hn::InterleaveUpper(ints, a, c)), 2, t);
  store_rows(hn::BitCast(bytes, hn::InterleaveLower(ints, b, d)), 4, t);
  store_rows(hn::BitCast(bytes, hn::InterleaveUpper(ints, b, d)), 6, t);
}

// Returns lanes that are not 0 if libjpeg's version may make different bits. On x86, libjpeg has a shortcut for blocks
// in which only the first row is not 0. The shortcut multiplies that row by 4 mod 2^16, and does not saturate. On other
// CPUs, libjpeg's values may wrap.
template <int Rows>
HWY_INLINE Words beyond_libjpeg(const Words (&x)[8]) {
  if constexpr (passes_saturate) return hn::Xor(x[0], hn::ShiftRight<2>(hn::ShiftLeft<2>(x[0])));
  return above_largest_column<Rows>(x);
}

// Transforms blocks, and stores their values. Returns beyond_libjpeg() of the blocks.
HWY_NOINLINE Words transform_whole(const Together& t, const std::int16_t* quantization) {
  Words x[8];
  for (int row = 0; row < 8; ++row) x[row] = load_row(t, quantization, row);
  const Words beyond = beyond_libjpeg<8>(x);
  transform<columns_shift>(x);
  transpose(x);
  transform<rows_shift>(x);
  store_columns(x, t);
  return beyond;
}

// Does the same as transform_whole() for blocks in which all coefficients after the tenth, in zigzag order, are 0. Only
// the first four rows and columns of these blocks are not 0.
HWY_NOINLINE Words transform_low(const Together& t, const std::int16_t* quantization) {
  Words x[8];
  for (int row = 0; row < 4; ++row) x[row] = load_row(t, quantization, row);
  const Words beyond = beyond_libjpeg<4>(x);
  transform_low_columns(x);
  transform_low_rows(x);
  store_columns(x, t);
  return beyond;
}

bool run(const BlocksToValues& job) {
  // Puts blocks that need the whole transform before blocks of at most ten coefficients, because all blocks of a
  // register are transformed in the same way.
  std::uint8_t order[ScanReader::most_blocks], lows[ScanReader::most_blocks];
  int whole = 0, low = 0;
  bool usual = true;
  for (int i = 0; i < job.count; ++i) {
    Block& next = job.blocks[job.from[i]];
    if (next.known <= 1) {
      usual &= fill_flat(next.coefficients[0], job.quantization[0], job.values + job.to[i], job.stride);
      next.coefficients[0] = 0;
      continue;
    }
    order[whole] = lows[low] = static_cast<std::uint8_t>(i);
    const bool is_low = next.known <= 10;
    low += is_low;
    whole += !is_low;
  }
  std::copy_n(lows, low, order + whole);
  const Words beyond = for_together(job, order, whole + low, [&](const Together& t, int n) HWY_ATTR {
    return n < whole ? transform_whole(t, job.quantization) : transform_low(t, job.quantization);
  });
  return usual && hn::AllTrue(words, hn::Eq(beyond, hn::Zero(words)));
}

InverseDct get_inverse_dct() { return run; }

#endif

}  // namespace HWY_NAMESPACE
}  // namespace penstock::jpeg::baseline
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace penstock::jpeg::baseline {

HWY_EXPORT(get_inverse_dct);
InverseDct inverse_dct(int size) { return size == 8 ? HWY_DYNAMIC_DISPATCH(get_inverse_dct)() : reduced_dct(size); }

}  // namespace penstock::jpeg::baseline
#endif
