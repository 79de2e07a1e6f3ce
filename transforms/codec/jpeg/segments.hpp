// SPDX-License-Identifier: Apache-2.0
// Finds the parts of an image between restart markers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include <penstock/extend/image_executor.hpp>

#include "reader.hpp"

namespace penstock::jpeg {

// Columns and rows around a box on which its pixels may depend: smooth upsampling of a pixel reads its neighbours.
inline constexpr std::int32_t upsampling_margin = 2;

// A row or column of MCUs: [first, end).
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
  Size mcu;                         // size of an MCU in pixels
  Size size;                        // size of a segment, in MCUs: a part of a row of them, or some whole rows
  Range columns, rows;              // the MCUs of all of them
  std::span<const Extent> extents;  // row by row, in scratch

  std::int32_t across() const noexcept { return columns.size() / size.width; }
};

// Finds the segments that a box needs. The data between two restart markers can be decoded without the rest. Returns
// nothing if that can't be done or would not pay:
// - there are several scans, or the header has an unusual form;
// - there are no restart markers, or they do not divide rows of MCUs evenly;
// - too little could be left out.
//
// REQUIRES: `reader` has read only the header. @throws Error(corrupt) unless there are exactly the markers that the
// image's size requires.
std::optional<Segments> needed_segments(Reader& reader, const Box& box, Scratch& scratch);

}  // namespace penstock::jpeg
