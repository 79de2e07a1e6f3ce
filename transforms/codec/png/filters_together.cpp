// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <initializer_list>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "filters_together.cpp"
// Must be included before Highway's headers.
#include "simd_targets.hpp"

#include <hwy/foreach_target.h>
// Must follow foreach_target.h, which includes this file once per target.
#include <hwy/highway.h>

#include "filters.hpp"
#include "paeth-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace penstock::png {
namespace HWY_NAMESPACE {

using Byte = std::uint8_t;

#if HWY_TARGET == HWY_SCALAR

void undo_rows_for_pixel(std::size_t pixel_bytes, const RowsToUndo& rows) {
  const Byte* above = rows.above;
  for (std::size_t row = 0; row < rows_together(pixel_bytes); ++row) {
    Byte* const out = rows.out + row * rows.out_stride;
    undo_filter(rows.filters[row], pixel_bytes, rows.stored + row * rows.stored_stride, above, rows.bytes, out);
    above = out;
  }
}

#else

namespace hn = hwy::HWY_NAMESPACE;

// A register has a lane of each row, of 4 or 8 bytes. A step makes a pixel of each row: in each row the pixel to the
// left of the one that the row above is at. So a lane finds the pixel above it in the results of the step before.
template <std::size_t Pixel>
struct Lanes {
  static constexpr std::size_t bytes = Pixel <= 4 ? 4 : 8, rows = rows_together(Pixel);
  static_assert(bytes * rows == 16);

  using Tag = hn::FixedTag<Byte, 16>;
  using LaneTag = hn::FixedTag<Byte, bytes>;
  using Vector = hn::Vec<Tag>;

  // Returns a register with the lanes at `at`, which are `stride` bytes apart.
  static HWY_INLINE Vector load(const Byte* at, std::ptrdiff_t stride) {
    const LaneTag lane;
    const auto lanes = [&](std::ptrdiff_t row) HWY_ATTR { return hn::LoadU(lane, at + row * stride); };
    if constexpr (rows == 2) {
      return hn::Combine(Tag(), lanes(1), lanes(0));
    } else {
      const hn::FixedTag<Byte, 8> half;
      return hn::Combine(Tag(), hn::Combine(half, lanes(3), lanes(2)), hn::Combine(half, lanes(1), lanes(0)));
    }
  }

  // Returns a register whose first lane is at `at`. The others are 0.
  static HWY_INLINE Vector load_first(const Byte* at) {
    const LaneTag lane;
    const auto first = hn::LoadU(lane, at);
    if constexpr (rows == 2) {
      return hn::Combine(Tag(), hn::Zero(lane), first);
    } else {
      const hn::FixedTag<Byte, 8> half;
      return hn::Combine(Tag(), hn::Zero(half), hn::Combine(half, hn::Zero(lane), first));
    }
  }

  static HWY_INLINE void store(Vector v, Byte* at, std::ptrdiff_t stride) { store_lane<0>(v, at, stride); }

  // Returns 255 for each byte of the lanes whose row's filter is one of `filters`, and 0 for the others.
  static HWY_INLINE Vector of_filters(const Filter* of_rows, std::initializer_list<Filter> which) {
    alignas(16) Byte mask[16];
    for (std::size_t row = 0; row < rows; ++row) {
      bool among = false;
      for (const Filter filter : which) among = among || of_rows[row] == filter;
      std::memset(mask + row * bytes, among ? 255 : 0, bytes);
    }
    return hn::Load(Tag(), mask);
  }

  // Returns 255 for each byte of the first `count` lanes.
  static HWY_INLINE Vector first_lanes(std::size_t count) {
    alignas(16) Byte mask[16] = {};
    std::memset(mask, 255, count * bytes);
    return hn::Load(Tag(), mask);
  }

 private:
  template <std::size_t Row>
  static HWY_INLINE void store_lane(Vector v, Byte* at, std::ptrdiff_t stride) {
    const LaneTag lane;
    const auto shifted = hn::ShiftRightBytes<static_cast<int>(Row * bytes)>(Tag(), v);
    const auto half = hn::LowerHalf(hn::Half<Tag>(), shifted);
    if constexpr (rows == 2) {
      hn::StoreU(half, lane, at + static_cast<std::ptrdiff_t>(Row) * stride);
    } else {
      hn::StoreU(hn::LowerHalf(lane, half), lane, at + static_cast<std::ptrdiff_t>(Row) * stride);
    }
    if constexpr (Row + 1 < rows) store_lane<Row + 1>(v, at, stride);
  }
};

// The other filters are Paeth's with zeros: `sub` has no up and corner, `up` has no left and corner. `Average` tells
// whether a row has the filter `average`.
template <std::size_t Pixel, bool Average>
HWY_NOINLINE void undo_rows(const RowsToUndo& rows) {
  using L = Lanes<Pixel>;
  using Vector = typename L::Vector;
  const typename L::Tag d;
  const Vector left_of = L::of_filters(rows.filters, {sub_filter, paeth_filter}),
               up_of = L::of_filters(rows.filters, {up_filter, paeth_filter}),
               corner_of = L::of_filters(rows.filters, {paeth_filter}),
               average_of = L::of_filters(rows.filters, {average_filter}), one = hn::Set(d, 1);
  // A step comes to a pixel one step after the pixel above it.
  const auto stored_stride = static_cast<std::ptrdiff_t>(rows.stored_stride) - std::ptrdiff_t{Pixel},
             out_stride = static_cast<std::ptrdiff_t>(rows.out_stride) - std::ptrdiff_t{Pixel};
  Vector left = hn::Zero(d), corner = left;
  const auto step = [&](std::size_t at) HWY_ATTR {
    const Vector up = hn::Or(hn::ShiftLeftBytes<static_cast<int>(L::bytes)>(d, left), L::load_first(rows.above + at));
    Vector predicted = paeth(d, hn::And(left, left_of), hn::And(up, up_of), hn::And(corner, corner_of));
    if constexpr (Average) {
      // AverageRound rounds up.
      const Vector average = hn::Sub(hn::AverageRound(left, up), hn::And(hn::Xor(left, up), one));
      predicted = hn::Or(predicted, hn::And(average, average_of));
    }
    corner = up;
    left = hn::Add(predicted, L::load(rows.stored + at, stored_stride));
    L::store(left, rows.out + at, out_stride);
  };
  const std::size_t end = (rows.bytes + Pixel - 1) / Pixel * Pixel + (L::rows - 1) * Pixel;
  std::size_t at = 0;
  // To the left of a row's first pixel is 0.
  for (std::size_t begun = 1; begun < L::rows; ++begun, at += Pixel) {
    step(at);
    left = hn::And(left, L::first_lanes(begun));
  }
  for (; at < end; at += Pixel) step(at);
}

template <std::size_t Pixel>
void undo_rows(const RowsToUndo& rows) {
  for (std::size_t row = 0; row < rows_together(Pixel); ++row)
    if (rows.filters[row] == average_filter) return undo_rows<Pixel, true>(rows);
  undo_rows<Pixel, false>(rows);
}

void undo_rows_for_pixel(std::size_t pixel_bytes, const RowsToUndo& rows) {
  switch (pixel_bytes) {
    case 1:
      return undo_rows<1>(rows);
    case 2:
      return undo_rows<2>(rows);
    case 3:
      return undo_rows<3>(rows);
    case 4:
      return undo_rows<4>(rows);
    case 6:
      return undo_rows<6>(rows);
    default:
      return undo_rows<8>(rows);
  }
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace penstock::png
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace penstock::png {

HWY_EXPORT(undo_rows_for_pixel);
void undo_filters(std::size_t pixel_bytes, const RowsToUndo& rows) {
  HWY_DYNAMIC_DISPATCH(undo_rows_for_pixel)(pixel_bytes, rows);
}

bool faster_together(const Filter* of_rows, std::size_t rows) {
  // Cycles of a pixel, as measured.
  constexpr int cycles[filters] = {0, 1, 0, 4, 8}, together = 11;
  int alone = 0;
  for (std::size_t row = 0; row < rows; ++row) alone += cycles[of_rows[row]];
  return alone > together;
}

}  // namespace penstock::png
#endif
