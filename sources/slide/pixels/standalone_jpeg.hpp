// SPDX-License-Identifier: Apache-2.0
// Turns a tile's JPEG stream into a JPEG file of its own.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include <penstock/extend/image_executor.hpp>

namespace penstock::slide {

/// What the slide's file specifies about a JPEG stream in it.
struct StreamFacts {
  std::span<const std::byte> tables;  ///< a JPEG stream of tables that the tile's stream may lack; may be empty
  bool rgb = false;                   ///< the stream's values are RGB; otherwise YCbCr
  int width = 0, height = 0;          ///< required size in pixels
};

/// Returns by how many bytes the stream's header may grow.
std::size_t header_room(const StreamFacts& facts) noexcept;

/// Returns the stream with `facts.tables`, and with Adobe's marker, which specifies whether the values are RGB or
/// YCbCr. Leaves out the stream's own JFIF and Adobe markers. `memory` has `header_room` free bytes, and then the
/// stream. Writes the new header before the scan, over the stream's header. The scan stays in place. Returns nothing if
/// the stream is not a JPEG of the required size with three components of 8 bits. Looks only at the header. Takes
/// memory for the header from `scratch`.
std::optional<std::span<const std::byte>> standalone_jpeg(std::span<std::byte> memory, const StreamFacts& facts,
                                                          Scratch& scratch);

}  // namespace penstock::slide
