// A tile's stream as a file of its own.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include <penstock/extend/image_executor.hpp>

namespace penstock::slide {

/// What the file around a stream says of it.
struct StreamFacts {
  std::span<const std::byte> tables;  ///< tables that it may leave out, as a stream of their own; empty: none
  bool rgb = false;                   ///< what its values are, else YCbCr
  int width = 0, height = 0;          ///< pixels that it must have
};

/// How many bytes the header of a file may be longer than its stream's.
std::size_t header_room(const StreamFacts& facts) noexcept;

/// The stream with its tables, and with Adobe's marker, which says what its values are; other words on that are left
/// out. `memory` is room for the header, as `header_room` says, and after it the stream, whose header is written over:
/// the scan stays where it is. None where it is not a JPEG of that size with three components of 8 bits. Only the
/// header is looked at. Memory for it comes from `scratch`.
std::optional<std::span<const std::byte>> standalone_jpeg(std::span<std::byte> memory, const StreamFacts& facts,
                                                          Scratch& scratch);

}  // namespace penstock::slide
