#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <penstock/detail/export.hpp>
#include <penstock/stages/stage.hpp>

namespace penstock {

/// Settings of `seekable_jpeg`.
struct SeekableOptions {
  /// MCUs (the blocks of 8 to 32 pixels that a JPEG is coded in) from a restart marker to the next. Fewer: crops decode
  /// faster, and files grow. Where a row of MCUs is no multiple of it, the divisor of the row nearest to it in ratio.
  std::int32_t every = 4;
  /// Pixels that an image may declare. One that declares more is refused, and so is one that needs more coefficients
  /// than 3 bytes a pixel of these.
  std::uint64_t max_pixels = std::uint64_t{1} << 28;
  int max_scans = 64;  ///< scans that a progressive image may have, as `JpegOptions::max_scans`
};

/// Rewrites a JPEG so that a part of it can be decoded alone: what `decode_jpeg` does when a crop follows. The pictures
/// are the same, bit for bit, in any decoder: no coefficient is touched. The result is an ordinary baseline JPEG (an
/// extended one, SOF1, where its quantisation tables are of 16 bits) with restart markers and Huffman tables of its
/// own, which make up for the markers: it is about as large as a file with the standard tables (one that was optimised,
/// or progressive, grows).
///
/// Kept: the ICC profile, EXIF data (so the orientation), pixel density, and what says how colours are coded. Left out:
/// comments, thumbnails but those inside the EXIF data, other applications' data, and anything after the image.
///
/// Takes any JPEG of 8 bits that libjpeg reads: grey, colour, CMYK; baseline, extended, progressive, one or many scans,
/// arithmetic coding. Damage of any kind is an error, also such as decoders pass over with a warning. Any thread.
/// @throws Error(corrupt) for what is damaged, lacks scans or is no JPEG, (unsupported) for 12 bits, lossless coding,
/// and the rare kind whose components can't be joined in one scan, (limit_exceeded) for what is above a limit, and for
/// an arithmetic-coded image of more than 2^22 pixels and 4096 for each of its bytes: in such a file blank pixels take
/// none, (invalid_argument) for options below 1.
PENSTOCK_API std::vector<std::byte> seekable_jpeg(std::span<const std::byte> encoded,
                                                  const SeekableOptions& options = {});

/// Rewrites the JPEGs of a field, each as `seekable_jpeg` does, before `write(pipeline, sink)`. `field`: u8 [bytes] to
/// u8 [bytes]. @throws Error(invalid_argument) for options below 1.
PENSTOCK_API Stage seekable_jpeg(std::string field, const SeekableOptions& options = {});

}  // namespace penstock
