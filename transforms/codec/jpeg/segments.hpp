// SPDX-License-Identifier: Apache-2.0
// Finds the segments of a scan: the parts of its data that restart markers separate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include <penstock/extend/image_executor.hpp>

#include "reader.hpp"

namespace penstock::jpeg {

// Number of columns or rows on each side of a box on which the box's pixels may depend. Smooth upsampling reads a
// pixel's neighbours.
inline constexpr std::int32_t upsampling_margin = 2;

// Rows or columns of MCUs: [first, end).
struct Range {
  std::int32_t first, end;
  std::int32_t size() const noexcept { return end - first; }
  bool holds(std::int32_t i) const noexcept { return i >= first && i < end; }
};

// Bytes of a file: [begin, end).
struct Extent {
  std::size_t begin, end;
};

// The segments that a box and its margin need.
struct Segments {
  Size mcu;                         // size of an MCU in pixels of the whole image
  Size size;                        // size of a segment in MCUs: a part of a row of MCUs, or several whole rows
  Range columns, rows;              // the MCUs of all these segments
  std::span<const Extent> extents;  // row by row, in scratch

  std::int32_t across() const noexcept { return columns.size() / size.width; }
};

// Finds the segments that a box needs. The data between two restart markers can be decoded without the scan's other
// data. Returns nothing if the whole image has to be decoded, or if segments would save too little:
// - there are several scans, or the header has an unusual form;
// - there are no restart markers, or they do not divide rows of MCUs evenly;
// - too few MCUs could be left out.
//
// `box` is in pixels of the reader's output. REQUIRES: `reader` has read only the header.
// @throws Error(corrupt) if the image's size requires other restart markers than the file has.
std::optional<Segments> needed_segments(Reader& reader, const Box& box, Scratch& scratch);

}  // namespace penstock::jpeg
