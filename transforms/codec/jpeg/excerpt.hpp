// A part of an image as a JPEG of its own, where restart markers allow that.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include <penstock/extend/image_executor.hpp>

#include "reader.hpp"

namespace penstock::jpeg {

// Columns and rows around a box that its pixels may depend on: smooth upsampling of a pixel looks at its neighbours.
inline constexpr std::int32_t upsampling_margin = 2;

struct Excerpt {
  std::span<const std::byte> encoded;  // a whole file, in scratch
  Box shows;                           // the part of the image that it is: around the box, whole segments
};

// What lies between two restart markers can be decoded alone. Where that saves work, this collects the segments that
// `box` and its margin need, after the image's own header with another size. None where it can't be done, or would not
// pay: several scans, no restart markers or markers that do not divide rows of MCUs evenly, too little to be left out.
//
// `reader` has read the header and nothing else. `scratch`: as much as the file at most.
// @throws Error(corrupt) when there are not exactly the markers that the image's size asks for.
std::optional<Excerpt> excerpt(Reader& reader, const Box& box, Scratch& scratch);

}  // namespace penstock::jpeg
