// SPDX-License-Identifier: Apache-2.0
// Turns a tile's stream into a file of its own.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include <penstock/extend/image_executor.hpp>

namespace penstock::slide {

/// What the file around a stream specifies about it.
struct StreamFacts {
  std::span<const std::byte> tables;  ///< tables that the stream may leave out, as a stream of their own; empty: none
  bool rgb = false;                   ///< its values are RGB; otherwise YCbCr
  int width = 0, height = 0;          ///< required size in pixels
};

/// Returns how many bytes longer than the stream's header the file's header may be.
std::size_t header_room(const StreamFacts& facts) noexcept;

/// Returns the stream with its tables, and with Adobe's marker, which specifies the kind of its values; other markers
/// of that kind are left out. `memory`: room for the header, of `header_room` bytes, and then the stream. Writes over
/// the stream's header; the scan stays in place. None if it is not a JPEG of that size with three components of 8 bits.
/// Looks only at the header. Memory for the header comes from `scratch`.
std::optional<std::span<const std::byte>> standalone_jpeg(std::span<std::byte> memory, const StreamFacts& facts,
                                                          Scratch& scratch);

}  // namespace penstock::slide
