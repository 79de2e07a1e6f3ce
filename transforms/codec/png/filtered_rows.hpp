// SPDX-License-Identifier: Apache-2.0
// The rows of an image as a PNG has them before they are compressed: a byte that names the filter, and the filtered
// bytes. Values of 16 bits begin with the upper byte.
#pragma once

#include <cstddef>
#include <cstdint>

#include <penstock/extend/image_executor.hpp>

#include "apply_filter.hpp"

namespace penstock::png {

class FilteredRows {
 public:
  // Number of bytes after rows that make() may write.
  static constexpr std::size_t margin = apply_margin;

  // `pixels` must outlive the object. @throws Error(out_of_memory).
  FilteredRows(const Pixels& pixels, Scratch& scratch);

  // Bytes of a row.
  std::size_t bytes() const noexcept { return 1 + row_bytes_; }
  std::int32_t count() const noexcept { return pixels_.shape.height; }
  // Returns whether all rows have at most `most` bytes.
  bool at_most(std::size_t most) const noexcept { return bytes() <= most / static_cast<std::size_t>(count()); }

  // Writes rows from `first` on, one after another, each with the filter that least_filter() chooses.
  void make(std::int32_t first, std::int32_t rows, std::uint8_t* out);
  // Writes rows without a filter.
  void make_plain(std::int32_t first, std::int32_t rows, std::uint8_t* out) const;

 private:
  void load(std::int32_t y, std::uint8_t* to) const;

  Pixels pixels_;
  std::size_t pixel_bytes_, row_bytes_;
  std::uint8_t *row_, *above_;
  std::int32_t loaded_ = -1;  // the row in `above_`; -1: zeros
};

}  // namespace penstock::png
