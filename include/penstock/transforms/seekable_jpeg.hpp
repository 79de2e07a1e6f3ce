// SPDX-License-Identifier: Apache-2.0
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
  /// Number of MCUs between restart markers. MCUs are the units of 8 to 32 pixels on each side in which a JPEG is
  /// coded. With fewer MCUs between markers, crops decode faster, and files grow. The actual number always divides
  /// the number of MCUs in a row. It is the divisor whose ratio to `every` is nearest to 1.
  std::int32_t every = 4;
  /// Limit on the pixels that an image declares. A larger image is refused. An image is also refused if its
  /// coefficients need more than 3 x `max_pixels` bytes.
  std::uint64_t max_pixels = std::uint64_t{1} << 28;
  int max_scans = 64;  ///< limit on the number of an image's scans, like `JpegOptions::max_scans`
};

/// Rewrites a JPEG so that a part of it can be decoded without the rest. If a crop follows `decode_jpeg`, only the
/// part that the crop needs is decoded. No coefficient changes, so a decoder makes the same picture of both files, bit
/// for bit. The result is an ordinary baseline JPEG with restart markers (an extended JPEG, SOF1, if its quantisation
/// tables have 16 bits). It has optimised Huffman tables, which save about as many bytes as the markers need. So the
/// result is about as large as `encoded` if `encoded` has the standard Huffman tables. If `encoded` is optimised or
/// progressive, the result is larger.
///
/// The result keeps the ICC profile, EXIF data (with the orientation), pixel density, and the markers that define how
/// colours are coded. It lacks comments, thumbnails that are not in the EXIF data, other applications' data, and
/// anything after the image.
///
/// Takes any JPEG of 8 bits that libjpeg reads: grey, colour or CMYK; baseline, extended or progressive; with one scan
/// or more; with Huffman or arithmetic coding. Damage of any kind is an error, even if decoders only warn of it. Any
/// thread may call it.
/// @throws Error(corrupt) if the data is damaged, lacks scans or is not a JPEG.
/// @throws Error(unsupported) for 12 bits, for lossless coding, and for the rare JPEGs whose components can't share one
/// scan.
/// @throws Error(limit_exceeded) if the image is above a limit. An image with arithmetic coding, whose blank pixels
/// take no bytes, may have at most 2^22 pixels plus 4096 pixels per byte of the file.
/// @throws Error(invalid_argument) if an option is below 1.
PENSTOCK_API std::vector<std::byte> seekable_jpeg(std::span<const std::byte> encoded,
                                                  const SeekableOptions& options = {});

/// Rewrites the JPEGs of a field like the function above, for `write(pipeline, sink)`. `field`: u8 [bytes] becomes u8
/// [bytes].
/// @throws Error(invalid_argument) if an option is below 1.
PENSTOCK_API Stage seekable_jpeg(std::string field, const SeekableOptions& options = {});

}  // namespace penstock
