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
  Box shows;                           // the part of the image that it shows: the MCUs of the segments
};

// Collects the segments after the image's own header, with a changed size. Takes at most the size of the file from
// `scratch`.
Excerpt excerpt(Reader& reader, const Segments& segments, Scratch& scratch);

}  // namespace penstock::jpeg
