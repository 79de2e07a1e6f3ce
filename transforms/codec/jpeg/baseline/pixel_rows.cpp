// SPDX-License-Identifier: Apache-2.0
#include "pixel_rows.hpp"

#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pixel_rows.cpp"
// Must be included before Highway's headers.
#include "simd_targets.hpp"

#include <hwy/foreach_target.h>
// Must follow foreach_target.h, which includes this file once per target.
#include <hwy/highway.h>

#include "pixel_rows_plain.hpp"
#include "vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace penstock::jpeg::baseline {
namespace HWY_NAMESPACE {
#if HWY_TARGET == HWY_SCALAR

PixelRowKernels get_pixel_rows() { return pixel_rows_plain(); }

#else

constexpr int lanes = 8 * static_cast<int>(blocks_together);
// Number of pixels that are made together. Even pixels are in one register of words, and odd pixels in another.
constexpr int together = 2 * lanes;

using HalfBytesTag = hn::FixedTag<std::uint8_t, static_cast<std::size_t>(lanes)>;
constexpr HalfBytesTag half_bytes;

// Values of even and of odd pixels.
struct Pair {
  Words even, odd;
};

HWY_INLINE Words load_wide(const std::uint8_t* at) { return hn::PromoteTo(words, hn::LoadU(half_bytes, at)); }
HWY_INLINE Words load_wide(const std::uint16_t* at) {
  const hn::RebindToUnsigned<WordsTag> levels;
  return hn::BitCast(words, hn::LoadU(levels, at));
}

HWY_INLINE Pair load_pair(const std::uint8_t* at) {
  const hn::RebindToUnsigned<WordsTag> levels;
  const auto both = hn::BitCast(levels, hn::LoadU(bytes, at));
  return {hn::BitCast(words, hn::And(both, hn::Set(levels, 0xff))), hn::BitCast(words, hn::ShiftRight<8>(both))};
}

// A block has 16 bytes of one colour: first the bytes of its eight even pixels, then the bytes of its eight odd pixels.
// The blocks of three colours become 48 bytes of pixels: byte j is colour j % 3 of pixel j / 3. These bytes are three
// parts of 16.
struct InterleaveTable {
  std::uint8_t from[3][16];    // for each colour: the byte that goes to a place of a part, if the place has that colour
  std::uint8_t second[3][16];  // for each part: 255 at the places of the second colour
  std::uint8_t third[3][16];   // for each part: 255 at the places of the third colour
};
constexpr InterleaveTable make_order() {
  InterleaveTable order = {};
  for (int color = 0; color < 3; ++color)
    for (int pixel = 0; pixel < 16; ++pixel)
      order.from[color][(3 * pixel + color) % 16] = static_cast<std::uint8_t>(pixel % 2 * 8 + pixel / 2);
  for (int part = 0; part < 3; ++part) {
    for (int i = 0; i < 16; ++i) {
      order.second[part][i] = (16 * part + i) % 3 == 1 ? 255 : 0;
      order.third[part][i] = (16 * part + i) % 3 == 2 ? 255 : 0;
    }
  }
  return order;
}
alignas(16) constexpr InterleaveTable order = make_order();

// Stores the three parts of the first block, then the three parts of the next block, and so on.
HWY_INLINE void store_parts(const Bytes (&parts)[3], std::uint8_t* to) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  // Makes a register of four blocks. a, b, c and d say which ones: each is the number of a block's first half. Halves 0
  // to 7 are in `all`, and halves 8 to 15 in `part`.
  const auto added = [](__m512i all, __m512i part, std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d)
                         HWY_ATTR {
                           const __m512i from = _mm512_setr_epi64(a, a + 1, b, b + 1, c, c + 1, d, d + 1);
                           return _mm512_permutex2var_epi64(all, from, part);
                         };
  const __m512i p = parts[0].raw, q = parts[1].raw, r = parts[2].raw;
  _mm512_storeu_si512(to, added(added(p, q, 0, 8, 0, 2), r, 0, 2, 8, 6));
  _mm512_storeu_si512(to + 64, added(added(q, r, 2, 10, 4, 4), p, 0, 2, 12, 6));
  _mm512_storeu_si512(to + 128, added(added(r, p, 4, 14, 6, 6), q, 0, 2, 14, 6));
#else
  for (std::size_t part = 0; part < 3; ++part) {
    hn::StoreU(nth_block<0>(parts[part]), block, to + 16 * part);
    if constexpr (blocks_together == 2) hn::StoreU(nth_block<1>(parts[part]), block, to + 48 + 16 * part);
  }
#endif
}

HWY_INLINE void store_pixels(Bytes r, Bytes g, Bytes b, std::uint8_t* to) {
  const auto load = [](const std::uint8_t* at) HWY_ATTR { return hn::LoadDup128(bytes, at); };
  r = hn::TableLookupBytes(r, load(order.from[0]));
  g = hn::TableLookupBytes(g, load(order.from[1]));
  b = hn::TableLookupBytes(b, load(order.from[2]));
  Bytes parts[3];
  for (int part = 0; part < 3; ++part) {
    const Bytes of_two = hn::IfVecThenElse(load(order.second[part]), g, r);
    parts[part] = hn::IfVecThenElse(load(order.third[part]), b, of_two);
  }
  store_parts(parts, to);
}

// Calls `some(x, to)` for each `together` pixels of the row. `some` makes pixels from the values from x on, and writes
// these pixels to `to`. If any of the `together` pixels is before or after the row, all of them are made in a buffer,
// and only the row's pixels are copied.
template <class Some>
HWY_INLINE void for_row(const PixelRow& row, const Some& some) {
  std::uint8_t apart[3 * together];
  const int end = row.left_out + row.count;
  std::uint8_t* const first = row.pixels - 3 * row.left_out;  // may be before the row; nothing is written there
  for (int x = 0; x < end; x += together) {
    const int from = x == 0 ? row.left_out : 0, until = end - x < together ? end - x : together;
    if (from == 0 && until == together) {
      some(x, first + 3 * x);
    } else {
      some(x, apart);
      std::memcpy(first + 3 * (x + from), apart + 3 * from, static_cast<std::size_t>(3 * (until - from)));
    }
  }
}

struct Colors {
  Words r, g, b;  // may be beyond 0 to 255
};

// cb and cr are centred at 0. The products are the same as in libjpeg's SIMD versions, which make the same bits as its
// C version. Red is y + cr + 0.402 cr: 2 cr is multiplied by 0.402, and the product is halved and rounded. Blue is y +
// 2 cb - 0.228 cb, with a product of the same kind.
HWY_INLINE Colors colors_of(Words y, Words cb, Words cr) {
  const Words one = hn::Set(words, 1);
  const auto rounded = [&](Words twice, std::int16_t by)
                           HWY_ATTR { return hn::ShiftRight<1>(hn::Add(hn::MulHigh(twice, hn::Set(words, by)), one)); };
  const Words twice_cb = hn::Add(cb, cb), twice_cr = hn::Add(cr, cr);
  // Green is y - cr - 0.34414 cb + (1 - 0.71414) cr. `green` is the sum of the last two terms.
  const Halves green = products<-22554, 18734>(cb, cr);
  const Ints half = hn::Set(ints, 1 << 15);
  const Words g = hn::ReorderDemote2To(words, hn::ShiftRight<16>(hn::Add(green.low, half)),
                                       hn::ShiftRight<16>(hn::Add(green.high, half)));
  return {hn::Add(hn::Add(y, cr), rounded(twice_cr, 26345)), hn::Add(hn::Sub(y, cr), g),
          hn::Add(hn::Add(y, twice_cb), rounded(twice_cb, -14942))};
}

HWY_INLINE void store_ycc(Pair y, Pair cb, Pair cr, std::uint8_t* to) {
  const Colors even = colors_of(y.even, cb.even, cr.even), odd = colors_of(y.odd, cb.odd, cr.odd);
  store_pixels(saturated(even.r, odd.r), saturated(even.g, odd.g), saturated(even.b, odd.b), to);
}

void sum_rows(const std::uint8_t* near, const std::uint8_t* far, int count, std::uint16_t* sums) {
  const hn::RebindToUnsigned<WordsTag> levels;
  const Words three = hn::Set(words, 3);
  for (int i = 0; i < count; i += lanes)
    hn::StoreU(hn::BitCast(levels, hn::Add(hn::Mul(load_wide(near + i), three), load_wide(far + i))), levels, sums + i);
}

void widen(const std::uint8_t* values, int count, std::uint16_t* sums) {
  const hn::RebindToUnsigned<WordsTag> levels;
  for (int i = 0; i < count; i += lanes) hn::StoreU(hn::BitCast(levels, load_wide(values + i)), levels, sums + i);
}

void between_rows(const std::uint8_t* near, const std::uint8_t* far, int rounding, int count, std::uint8_t* values) {
  const Words three = hn::Set(words, 3), add = hn::Set(words, static_cast<std::int16_t>(rounding));
  for (int i = 0; i < count; i += lanes) {
    const Words sum = hn::Add(hn::Mul(load_wide(near + i), three), load_wide(far + i));
    hn::StoreU(hn::DemoteTo(half_bytes, hn::ShiftRight<2>(hn::Add(sum, add))), half_bytes, values + i);
  }
}

void ycc(const std::uint8_t* y, const std::uint8_t* cb, const std::uint8_t* cr, const PixelRow& row) {
  const Words center = hn::Set(words, 128);
  const auto chroma = [&](const std::uint8_t* at) HWY_ATTR {
    const Pair values = load_pair(at);
    return Pair{hn::Sub(values.even, center), hn::Sub(values.odd, center)};
  };
  for_row(row,
          [&](int x, std::uint8_t* to) HWY_ATTR { store_ycc(load_pair(y + x), chroma(cb + x), chroma(cr + x), to); });
}

template <AcrossRounding Rounding>
void ycc_across(const std::uint8_t* y, const std::uint16_t* cb, const std::uint16_t* cr, const PixelRow& row) {
  constexpr int center = 128 << Rounding.shift;
  const Words three = hn::Set(words, 3), even = hn::Set(words, static_cast<std::int16_t>(Rounding.even - center)),
              odd = hn::Set(words, static_cast<std::int16_t>(Rounding.odd - center));
  const auto chroma = [&](const std::uint16_t* at) HWY_ATTR {
    const Words near = hn::Mul(load_wide(at), three);
    return Pair{hn::ShiftRight<Rounding.shift>(hn::Add(hn::Add(near, even), load_wide(at - 1))),
                hn::ShiftRight<Rounding.shift>(hn::Add(hn::Add(near, odd), load_wide(at + 1)))};
  };
  for_row(row, [&](int x, std::uint8_t* to)
                   HWY_ATTR { store_ycc(load_pair(y + x), chroma(cb + x / 2), chroma(cr + x / 2), to); });
}

void rgb(const std::uint8_t* r, const std::uint8_t* g, const std::uint8_t* b, const PixelRow& row) {
  const auto load = [](const std::uint8_t* at) HWY_ATTR {
    const Pair values = load_pair(at);
    return saturated(values.even, values.odd);
  };
  for_row(row, [&](int x, std::uint8_t* to) HWY_ATTR { store_pixels(load(r + x), load(g + x), load(b + x), to); });
}

void gray(const std::uint8_t* y, const PixelRow& row) { rgb(y, y, y, row); }

PixelRowKernels get_pixel_rows() {
  return {sum_rows, widen, between_rows, ycc, ycc_across<of_values>, ycc_across<of_sums>, rgb, gray};
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace penstock::jpeg::baseline
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace penstock::jpeg::baseline {

HWY_EXPORT(get_pixel_rows);
PixelRowKernels pixel_rows() { return HWY_DYNAMIC_DISPATCH(get_pixel_rows)(); }

}  // namespace penstock::jpeg::baseline
#endif
