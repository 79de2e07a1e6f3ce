// SPDX-License-Identifier: Apache-2.0
// Checks the header of a JPEG 2000 codestream before OpenJPEG allocates memory for it.
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

/// Checks the header of a codestream, or of a JP2 file.
/// @throws Error(corrupt), for example if
/// - the size differs from `facts`;
/// - a tile part extends past the end of the data, or its header past the end of the part;
/// - there are more packets than bytes that could hold them.
/// @throws Error(unsupported), for example if
/// - a pixel does not have three values of 8 bits;
/// - a tile part changes the coding;
/// - decoding would take much memory.
Jpeg2000Header read_jpeg2000_header(std::span<const std::byte> encoded, const Jpeg2000Facts& facts);

}  // namespace penstock::slide
