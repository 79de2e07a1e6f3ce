// SPDX-License-Identifier: Apache-2.0
// Checks the header of a JPEG 2000 codestream before OpenJPEG allocates memory by it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace penstock::slide {

struct Jpeg2000Facts;

struct Jpeg2000Header {
  std::span<const std::byte> codestream;                       ///< without the boxes of a JP2 file
  std::array<std::uint8_t, 3> across{1, 1, 1}, down{1, 1, 1};  ///< pixels per sample, for each component
};

/// @throws Error(corrupt) if
/// - the size is not the facts' size;
/// - parts don't follow each other;
/// - there are more packets than bytes that could hold them.
/// @throws Error(unsupported) for values other than three of 8 bits, for a coding that a part sets again, and for one
/// that would take much memory.
Jpeg2000Header read_jpeg2000_header(std::span<const std::byte> encoded, const Jpeg2000Facts& facts);

}  // namespace penstock::slide
