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

// Makes a JPEG of the segments, with the image's header, in which the size is changed. Takes at most the size of the
// image's file from `scratch`.
Excerpt excerpt(Reader& reader, const Segments& segments, Scratch& scratch);

}  // namespace penstock::jpeg
