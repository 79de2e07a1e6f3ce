// The header of a JPEG 2000 codestream, looked at before OpenJPEG takes memory for what it says.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace penstock::slide {

struct Jpeg2000Facts;

struct Jpeg2000Header {
  std::span<const std::byte> codestream;                       ///< without the boxes of a JP2 file
  std::array<std::uint8_t, 3> across{1, 1, 1}, down{1, 1, 1};  ///< pixels a sample, of each component
};

/// @throws Error(corrupt) for another size than the facts', for parts that don't follow each other, and for more
/// packets than bytes that could hold them; Error(unsupported) for other values than three of 8 bits, for a coding that
/// is said again for a part, and for one that would take much memory.
Jpeg2000Header read_jpeg2000_header(std::span<const std::byte> encoded, const Jpeg2000Facts& facts);

}  // namespace penstock::slide
