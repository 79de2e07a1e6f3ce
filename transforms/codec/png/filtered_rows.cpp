// SPDX-License-Identifier: Apache-2.0
#include "filtered_rows.hpp"

#include <bit>
#include <cstring>
#include <utility>

namespace penstock::png {

FilteredRows::FilteredRows(const Pixels& pixels, Scratch& scratch)
    : pixels_(pixels),
      pixel_bytes_(pixels.shape.pixel_bytes()),
      row_bytes_(static_cast<std::size_t>(pixels.shape.width) * pixel_bytes_) {
  const auto room = [&] {
    const std::size_t all = row_bytes_ + 2 * apply_margin;
    return static_cast<std::uint8_t*>(std::memset(scratch.allocate(all), 0, all)) + apply_margin;
  };
  row_ = room();
  above_ = room();
}

void FilteredRows::load(std::int32_t y, std::uint8_t* to) const {
  const std::uint8_t* const from = pixels_.data + y * pixels_.stride;
  if (pixels_.shape.element == DType::u16 && std::endian::native == std::endian::little) {
    for (std::size_t i = 0; i < row_bytes_; i += 2) to[i] = from[i + 1], to[i + 1] = from[i];
  } else {
    std::memcpy(to, from, row_bytes_);
  }
}

void FilteredRows::make(std::int32_t first, std::int32_t rows, std::uint8_t* out) {
  if (loaded_ != first - 1) {
    if (first > 0)
      load(first - 1, above_);
    else
      std::memset(above_, 0, row_bytes_);
  }
  for (std::int32_t y = first; y < first + rows; ++y, out += bytes()) {
    load(y, row_);
    const Filter filter = least_filter(pixel_bytes_, row_, above_, row_bytes_);
    *out = filter;
    apply_filter(filter, pixel_bytes_, row_, above_, row_bytes_, out + 1);
    std::swap(row_, above_);
  }
  loaded_ = first + rows - 1;
}

void FilteredRows::make_plain(std::int32_t first, std::int32_t rows, std::uint8_t* out) const {
  for (std::int32_t y = first; y < first + rows; ++y, out += bytes()) {
    *out = no_filter;
    load(y, out + 1);
  }
}

}  // namespace penstock::png
