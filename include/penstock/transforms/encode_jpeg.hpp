// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <penstock/detail/export.hpp>
#include <penstock/extend/image_encoder.hpp>
#include <penstock/extend/image_op.hpp>
#include <penstock/stages/stage.hpp>

namespace penstock {

/// How to make a JPEG from pixels. All are result options.
struct EncodeJpegOptions {
  int quality = 90;          ///< quality of the JPEG, 1 to 100
  int subsampling = 420;     ///< how colours are stored: 444, 422 (halved across), 440 (halved down) or 420 (both)
  bool progressive = false;  ///< several scans: smaller files, slower to decode
  int restart_rows = 0;      ///< rows of blocks between restart markers. Default (0): no markers
};

/// Makes a complete JPEG file of an image with 1 channel (grey) or 3 (RGB). Any thread may call it.
/// @throws Error(invalid_argument) if the image has other channels or a side above 65,500 pixels, or an option is not
/// as above.
PENSTOCK_API std::vector<std::byte> encode_jpeg(const Pixels& pixels, const EncodeJpegOptions& options = {});

/// Settings of the stage `encode_jpeg`: those of EncodeJpegOptions, and those that only a stage has. All are result
/// options.
struct EncodeJpegStageOptions {
  int quality = 90;          ///< quality of the JPEG, 1 to 100
  int subsampling = 420;     ///< how colours are stored: 444, 422, 440 or 420
  bool progressive = false;  ///< several scans: smaller files, slower to decode
  int restart_rows = 0;      ///< rows of blocks between restart markers. Default (0): no markers
  /// If the image comes from a JPEG and is unchanged, the result is that file, byte for byte, whatever the options
  /// above. So encoding again loses nothing, and decoding is not needed. See `encode_jpeg` for the conditions.
  bool keep_stored = false;
  std::string out = {};  ///< the field to write. Default: the image's field, which the JPEG replaces
};

/// Makes a JPEG of each image. `field`: u8 [H, W, 1] or u8 [H, W, 3] becomes u8 [bytes]. With `.out` the image stays,
/// and the JPEG is a new field. Several encoders may take one image: it is decoded once, and the encoders do not change
/// each other's results. Image stages before it fold into the image that is encoded.
///
/// With `keep_stored`, the result is the stored JPEG if all of these are true:
/// - A source promises the image and has a JPEG of all of it (`EncodedImage::stored_jpeg`), or `decode_jpeg` or
///   `decode_image` decoded it from a JPEG.
/// - It was decoded in its stored colours, as u8: with `rgb` or `as_stored`; a grey image also with `gray`.
/// - It does not have four inks. It was decoded without `accept_warnings`, no orientation was applied, and it is within
///   the default limits of `JpegOptions`.
/// - No stage in between changed it. A crop of everything, a `random_flip` that did not flip, and a `filter` or `map`
///   that only reads it are not changes. Two flips are.
/// - No `cache` and no `flat_map` is in between, and the image is not one that a stream promises. These keep pixels.
///
/// Otherwise it encodes the pixels. The choice depends only on the sample, not on threads, folding, or `verify`.
/// It reads only the header of a stored JPEG, so it may copy a file with damage after the header. With
/// `check({.verify = true})` in the pipeline, the file has been decoded to its end before, and such damage is an error.
/// It copies everything that the file has besides the image, for instance Exif data with an orientation.
///
/// Errors of one sample: unsupported if a side is above 65,500 pixels, or if the number of channels depends on the
/// sample and is not 1 or 3.
/// @throws Error(invalid_argument) if an option is not as above.
/// @throws When it joins a pipeline, what `encode_stage` throws: for u16, for other channels, and for labels.
PENSTOCK_API Stage encode_jpeg(std::string field = "image", const EncodeJpegStageOptions& options = {});

/// Returns the codec of the stage, for `encode_stage` and `encoded_bytes`. Any thread may call it.
/// @throws Error(invalid_argument) if an option is not as above.
PENSTOCK_API std::shared_ptr<const ImageEncoder> jpeg_encoder(const EncodeJpegOptions& options = {},
                                                              bool keep_stored = false);

}  // namespace penstock
