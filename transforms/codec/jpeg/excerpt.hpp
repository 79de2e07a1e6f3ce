// SPDX-License-Identifier: Apache-2.0
// Makes a separate JPEG of a part of an image, for libjpeg.
#pragma once

#include <cstddef>
#include <span>

#include <penstock/extend/image_executor.hpp>

#include "reader.hpp"
#include "segments.hpp"

namespace penstock::jpeg {

struct Excerpt {
  std::span<const std::byte> encoded;  // a whole file, in scratch
  Box shows;                           // the part of the image that the file shows: the MCUs of the segments
};

// Makes a JPEG of the segments. Its header has the markers of the image's header that libjpeg needs, but with the size
// of the excerpt. Takes at most as many bytes from `scratch` as the image's file has.
Excerpt excerpt(Reader& reader, const Segments& segments, Scratch& scratch);

}  // namespace penstock::jpeg
