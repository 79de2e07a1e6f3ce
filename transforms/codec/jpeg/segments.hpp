// The parts of an image between restart markers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include <penstock/extend/image_executor.hpp>

#include "reader.hpp"

namespace penstock::jpeg {

// Columns and rows around a box that its pixels may depend on: smooth upsampling of a pixel looks at its neighbours.
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

// What lies between two restart markers can be decoded alone. None where that can't be done, or would not pay: several
// scans, no restart markers or markers that do not divide rows of MCUs evenly, a header of an unusual form, too little
// to be left out.
//
// `reader` has read the header and nothing else. @throws Error(corrupt) when there are not exactly the markers that the
// image's size asks for.
std::optional<Segments> needed_segments(Reader& reader, const Box& box, Scratch& scratch);

}  // namespace penstock::jpeg
