// SPDX-License-Identifier: Apache-2.0
#include "reduced_dct.hpp"

#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reduced_dct.cpp"
// Must be included before Highway's headers.
#include "simd_targets.hpp"

#include <hwy/foreach_target.h>
// Must follow foreach_target.h, which includes this file once per target.
#include <hwy/highway.h>

#include "blocks-inl.hpp"
#include "inverse_dct_plain.hpp"
#include "scan_reader.hpp"
#include "vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace penstock::jpeg::baseline {
namespace HWY_NAMESPACE {
#if HWY_TARGET == HWY_SCALAR

InverseDct get_reduced_dct_4() { return reduced_dct_4_plain; }
InverseDct get_reduced_dct_2() { return reduced_dct_2_plain; }

#else

using namespace reduced;

// Makes four values of eight, lane by lane, from the sums of even and odd coefficients. `dc` has been rounded.
template <int Shift>
HWY_INLINE void make_four(Ints dc, Ints even, Ints inner, Ints outer, Ints (&out)[4]) {
  const Ints sum = hn::Add(dc, even), difference = hn::Sub(dc, even);
  out[0] = hn::ShiftRight<Shift>(hn::Add(sum, outer));
  out[1] = hn::ShiftRight<Shift>(hn::Add(difference, inner));
  out[2] = hn::ShiftRight<Shift>(hn::Sub(difference, inner));
  out[3] = hn::ShiftRight<Shift>(hn::Sub(sum, outer));
}

// Stores the values of each block, Size rows after one another in its part of the register.
template <std::size_t Size, std::size_t I = 0>
HWY_INLINE void store_squares(Bytes values, const Together& t) {
  alignas(16) std::uint8_t square[16];
  hn::Store(nth_block<I>(values), block, square);
  for (std::size_t y = 0; y < Size; ++y)
    std::memcpy(t.to[I] + static_cast<std::ptrdiff_t>(y) * t.stride, square + y * Size, Size);
  if constexpr (I + 1 < blocks_together) store_squares<Size, I + 1>(values, t);
}

// Transforms blocks, and stores their values. Returns above_largest_column().
HWY_NOINLINE Words transform_to_4(const Together& t, const std::int16_t* quantization) {
  Words x[8];
  for (int row = 0; row < 8; ++row) x[row] = load_row(t, quantization, row);
  const Words beyond = above_largest_column<8>(x);
  Words rows[4];
  {
    const Halves dc = scaled<columns_shift_4, 14>(x[0]), even = products<c1847, -c0765>(x[2], x[6]);
    const Halves inner = products<inner_1, inner_3>(x[1], x[3]) + products<inner_5, inner_7>(x[5], x[7]);
    const Halves outer = products<outer_1, outer_3>(x[1], x[3]) + products<outer_5, outer_7>(x[5], x[7]);
    Ints low[4], high[4];
    make_four<columns_shift_4>(dc.low, even.low, inner.low, outer.low, low);
    make_four<columns_shift_4>(dc.high, even.high, inner.high, outer.high, high);
    for (int y = 0; y < 4; ++y) rows[y] = hn::ReorderDemote2To(words, low[y], high[y]);
  }
  // Columns of four values, two in a register.
  const Words a = hn::InterleaveLower(words, rows[0], rows[2]), b = hn::InterleaveLower(words, rows[1], rows[3]),
              c = hn::InterleaveUpper(words, rows[0], rows[2]), d = hn::InterleaveUpper(words, rows[1], rows[3]);
  const Words c01 = hn::InterleaveLower(words, a, b), c23 = hn::InterleaveUpper(words, a, b),
              c45 = hn::InterleaveLower(words, c, d), c67 = hn::InterleaveUpper(words, c, d);
  Ints out[4];
  make_four<rows_shift_4>(scaled<rows_shift_4, 14>(c01).low, products<c1847, -c0765>(c23, c67).low,
                          hn::Add(products<inner_1, inner_5>(c01, c45).high, products<inner_3, inner_7>(c23, c67).high),
                          hn::Add(products<outer_1, outer_5>(c01, c45).high, products<outer_3, outer_7>(c23, c67).high),
                          out);
  const Bytes columns = hn::Xor(
      saturated_signed(hn::ReorderDemote2To(words, out[0], out[1]), hn::ReorderDemote2To(words, out[2], out[3])),
      hn::Set(bytes, 128));
  alignas(16) static constexpr std::uint8_t transposed[16] = {0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15};
  store_squares<4>(hn::TableLookupBytes(columns, hn::LoadDup128(bytes, transposed)), t);
  return beyond;
}

// Does the same as transform_to_4() for a quarter of the values.
HWY_NOINLINE Words transform_to_2(const Together& t, const std::int16_t* quantization) {
  // Rows 2, 4 and 6 make no value. They are loaded for above_largest_column().
  Words x[8];
  for (int row = 0; row < 8; ++row) x[row] = load_row(t, quantization, row);
  const Words beyond = above_largest_column<8>(x);
  const Halves dc = scaled<columns_shift_2, 15>(x[0]),
               odd = products<two_1, two_3>(x[1], x[3]) + products<two_5, two_7>(x[5], x[7]);
  const Words upper = descaled<columns_shift_2>(dc + odd), lower = descaled<columns_shift_2>(dc - odd);
  // Pairs of values of a column: columns 0 to 3, and 4 to 7.
  const Words c0123 = hn::InterleaveLower(words, upper, lower), c4567 = hn::InterleaveUpper(words, upper, lower);
  // The sums of a row are in the upper two lanes of 32 bits: of columns 1 and 5, and of 3 and 7.
  const Ints sums = hn::Add(products<two_1, two_5>(c0123, c4567).low, products<two_3, two_7>(c0123, c4567).high);
  const auto first = hn::BitCast(longs, scaled<rows_shift_2, 15>(c0123).low);
  const Ints dc_of_rows = hn::BitCast(ints, hn::InterleaveLower(longs, first, first));
  const Ints left = hn::ShiftRight<rows_shift_2>(hn::Add(dc_of_rows, sums)),
             right = hn::ShiftRight<rows_shift_2>(hn::Sub(dc_of_rows, sums));
  const Ints pixels = hn::InterleaveUpper(ints, left, right);
  const Words narrow = hn::ReorderDemote2To(words, pixels, pixels);
  store_squares<2>(hn::Xor(saturated_signed(narrow, narrow), hn::Set(bytes, 128)), t);
  return beyond;
}

template <int Size, class Transform>
HWY_INLINE bool run(const BlocksToValues& job, const Transform& transform) {
  std::uint8_t order[ScanReader::most_blocks];
  int count = 0;
  bool usual = true;
  for (int i = 0; i < job.count; ++i) {
    Block& next = job.blocks[job.from[i]];
    if (next.known <= 1) {
      usual &= fill_flat<Size>(next.coefficients[0], job.quantization[0], job.values + job.to[i], job.stride);
      next.coefficients[0] = 0;
    } else {
      order[count++] = static_cast<std::uint8_t>(i);
    }
  }
  const Words beyond =
      for_together(job, order, count, [&](const Together& t, int) HWY_ATTR { return transform(t, job.quantization); });
  return usual && hn::AllTrue(words, hn::Eq(beyond, hn::Zero(words)));
}

bool run_4(const BlocksToValues& job) { return run<4>(job, transform_to_4); }
bool run_2(const BlocksToValues& job) { return run<2>(job, transform_to_2); }

InverseDct get_reduced_dct_4() { return run_4; }
InverseDct get_reduced_dct_2() { return run_2; }

#endif

}  // namespace HWY_NAMESPACE
}  // namespace penstock::jpeg::baseline
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace penstock::jpeg::baseline {

HWY_EXPORT(get_reduced_dct_4);
HWY_EXPORT(get_reduced_dct_2);
InverseDct reduced_dct(int size) {
  if (size == 4) return HWY_DYNAMIC_DISPATCH(get_reduced_dct_4)();
  return size == 2 ? HWY_DYNAMIC_DISPATCH(get_reduced_dct_2)() : reduced_dct_1;
}

}  // namespace penstock::jpeg::baseline
#endif
