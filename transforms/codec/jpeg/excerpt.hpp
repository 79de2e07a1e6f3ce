// A part of an image as a JPEG of its own, for libjpeg.
#pragma once

#include <cstddef>
#include <span>

#include <penstock/extend/image_executor.hpp>

#include "reader.hpp"
#include "segments.hpp"

namespace penstock::jpeg {

struct Excerpt {
  std::span<const std::byte> encoded;  // a whole file, in scratch
  Box shows;                           // the part of the image that it is: the MCUs of the segments
};

// Collects the segments, after the image's own header with another size. `scratch`: as much as the file at most.
Excerpt excerpt(Reader& reader, const Segments& segments, Scratch& scratch);

}  // namespace penstock::jpeg
