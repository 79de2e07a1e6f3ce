// SPDX-License-Identifier: Apache-2.0
// The inverse DCT in plain C++, and code that its versions share.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "inverse_dct.hpp"

namespace penstock::jpeg::baseline {

// The algorithm is that of Loeffler, Ligtenberg and Moschytz (ICASSP 1989) with 13 bits of fraction, like in libjpeg.
// 16-bit sums, which may wrap, are in the order of libjpeg's SIMD versions. 32-bit sums are the same mod 2^32 in any
// order, so the rounding term is added first here.
constexpr int dct_factor(double x) { return static_cast<int>(x * 8192 + 0.5); }
inline constexpr int c0298 = dct_factor(0.298631336), c0390 = dct_factor(0.390180644), c0541 = dct_factor(0.541196100),
                     c0765 = dct_factor(0.765366865), c0899 = dct_factor(0.899976223), c1175 = dct_factor(1.175875602),
                     c1501 = dct_factor(1.501321110), c1847 = dct_factor(1.847759065), c1961 = dct_factor(1.961570560),
                     c2053 = dct_factor(2.053119869), c2562 = dct_factor(2.562915447), c3072 = dct_factor(3.072711026);
// The first pass leaves two bits of fraction. The second pass removes them, together with the scale of 8.
inline constexpr int columns_shift = 11, rows_shift = 18;

// Whether libjpeg's version for this kind of CPU saturates values between its two passes, like the code here. Its
// version for ARM wraps them. After the first pass, a value is at most 4 x 1.39 times the sum of the absolute values of
// its column's coefficients. If that sum is at most `largest_column`, no value saturates or wraps. In pictures the sum
// is less than half of `largest_column`.
#if defined(__x86_64__)
inline constexpr bool passes_saturate = true;
#else
inline constexpr bool passes_saturate = false;
#endif
inline constexpr std::int16_t largest_column = 5890;

// Fills a block of size x size values in which only the first coefficient is not 0. Returns false if that coefficient
// is too large for libjpeg's shortcut.
template <int Size = 8>
bool fill_flat(std::int16_t coefficient, std::int16_t quantization, std::uint8_t* to, std::ptrdiff_t stride) {
  const std::int32_t value = static_cast<std::int16_t>(coefficient * quantization);
  const std::int32_t level = std::clamp((value + 4) >> 3, -128, 127) + 128;
  const std::uint64_t row = 0x0101010101010101u * static_cast<std::uint64_t>(level);
  for (int y = 0; y < Size; ++y) std::memcpy(to + y * stride, &row, Size);
  return value == static_cast<std::int16_t>(value * 4) >> 2;
}

// Returns whether no column of coefficients, which were multiplied by the quantization, has a sum of absolute values
// above `largest_column`.
bool has_usual_columns(const std::int16_t (&x)[64]);

bool inverse_dct_plain(const BlocksToValues& job);

// Inverse DCTs of size 4 and 2 make the values that a block of 8 x 8 has, shrunk. They leave out coefficients of high
// frequencies. libjpeg's versions differ in where they saturate or wrap, also on x86. So blocks without
// has_usual_columns() are always left to it. The factors of the odd coefficients are the sums of the whole transform's.
namespace reduced {

// The first pass leaves two bits of fraction, like in the whole transform. The factors of size 4 are doubled, and those
// of size 2 multiplied by four.
inline constexpr int columns_shift_4 = 12, rows_shift_4 = 19, columns_shift_2 = 13, rows_shift_2 = 20;
// The factors of coefficients 1, 3, 5 and 7, of the inner and of the outer values of size 4, and of size 2.
inline constexpr int inner_1 = dct_factor(1.061594337), inner_3 = -dct_factor(2.172734803),
                     inner_5 = dct_factor(1.451774981), inner_7 = -dct_factor(0.211164243);
inline constexpr int outer_1 = dct_factor(2.562915447), outer_3 = c0899, outer_5 = -dct_factor(0.601344887),
                     outer_7 = -dct_factor(0.509795579);
inline constexpr int two_1 = dct_factor(3.624509785), two_3 = -dct_factor(1.272758580), two_5 = dct_factor(0.850430095),
                     two_7 = -dct_factor(0.720959822);

}  // namespace reduced

bool reduced_dct_4_plain(const BlocksToValues& job);
bool reduced_dct_2_plain(const BlocksToValues& job);
bool reduced_dct_1(const BlocksToValues& job);

}  // namespace penstock::jpeg::baseline
