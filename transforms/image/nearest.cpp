// SPDX-License-Identifier: Apache-2.0
#include "nearest.hpp"

#include <cstddef>
#include <cstring>

#include "axis.hpp"

namespace penstock::image {

std::int32_t below_centre(std::int64_t i, std::int64_t in, std::int64_t out) {
  return static_cast<std::int32_t>((2 * i + 1) * in / (2 * out));
}

namespace {

const std::ptrdiff_t* sources(const AxisRequest& r, std::ptrdiff_t unit, Scratch& scratch) {
  auto* table =
      reinterpret_cast<std::ptrdiff_t*>(scratch.allocate(static_cast<std::size_t>(r.count) * sizeof(std::ptrdiff_t)));
  for (std::int32_t j = 0; j < r.count; ++j) {
    const std::int32_t from = below_centre(r.first + (r.reverse ? r.count - 1 - j : j), r.in, r.out);
    table[j] = (r.mirror ? r.in - 1 - from : from) * unit;
  }
  return table;
}

template <std::size_t channels>
void gather(const std::uint8_t* row, const std::ptrdiff_t* columns, std::int32_t width, std::uint8_t* out) {
  for (std::int32_t x = 0; x < width; ++x, out += channels) std::memcpy(out, row + columns[x], channels);
}

}  // namespace

NearestResampler::NearestResampler(const Pixels& pixels, const ImageOp& op, bool flip_x, bool flip_y, Scratch& scratch)
    : pixels_(pixels),
      width_(op.kept.width),
      rows_(sources(rows_of(op, flip_y), 1, scratch)),
      columns_(sources(columns_of(op, flip_x), op.source.channels, scratch)) {}

void NearestResampler::row(std::int32_t y, std::uint8_t* out) const {
  const std::uint8_t* from = pixels_.data + rows_[y] * pixels_.stride;
  switch (pixels_.shape.channels) {
    case 1:
      return gather<1>(from, columns_, width_, out);
    case 2:
      return gather<2>(from, columns_, width_, out);
    case 3:
      return gather<3>(from, columns_, width_, out);
    default:
      return gather<4>(from, columns_, width_, out);
  }
}

}  // namespace penstock::image
