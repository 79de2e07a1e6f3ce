#pragma once

#include <cstddef>
#include <vector>

#include <penstock/detail/export.hpp>
#include <penstock/extend/image_op.hpp>

namespace penstock {

/// Settings of `encode_jpeg`.
struct EncodeJpegOptions {
  int quality = 90;       ///< 1 to 100
  int subsampling = 420;  ///< of colours: 444, 422 (halved across), 440 (halved down) or 420 (both)
  /// Result option: several scans, smaller files, slower to decode.
  bool progressive = false;
  int restart_rows = 0;  ///< a restart marker every so many rows of blocks; 0 = none
};

/// A complete JPEG file of an image with 1 channel (grey) or 3 (RGB). Any thread.
/// @throws Error(invalid_argument) for other channels, a side above 65,500 pixels, or options that are not as above.
PENSTOCK_API std::vector<std::byte> encode_jpeg(const Pixels& pixels, const EncodeJpegOptions& options = {});

}  // namespace penstock
