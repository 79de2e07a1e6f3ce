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
  int subsampling = 420;     ///< how colours are stored: 444, 422 (halved across), 440 (halved down), 420 (both ways)
  bool progressive = false;  ///< if true, several scans: smaller files, slower to decode
  int restart_rows = 0;      ///< rows of MCUs, 8 or 16 pixels high, between restart markers. Default (0): no markers
};

/// Makes a complete JPEG file of an image with 1 channel (grey) or 3 channels (RGB). Any thread may call it.
/// @throws Error(invalid_argument) if
/// - the image is not u8, or has another number of channels;
/// - a side is empty or above 65,500 pixels;
/// - an option has a value that EncodeJpegOptions does not allow.
PENSTOCK_API std::vector<std::byte> encode_jpeg(const Pixels& pixels, const EncodeJpegOptions& options = {});

/// Settings of the stage `encode_jpeg`: the settings of EncodeJpegOptions, and settings that only a stage has. All are
/// result options.
struct EncodeJpegStageOptions {
  int quality = 90;          ///< quality of the JPEG, 1 to 100
  int subsampling = 420;     ///< how colours are stored: 444, 422, 440 or 420
  bool progressive = false;  ///< if true, several scans: smaller files, slower to decode
  int restart_rows = 0;      ///< rows of MCUs, 8 or 16 pixels high, between restart markers. Default (0): no markers
  /// If true, and the image comes from a JPEG and is unchanged, the result is that JPEG, byte for byte, whatever the
  /// options above. So nothing is lost by encoding again, and the image need not be decoded. See `encode_jpeg` for the
  /// conditions.
  bool keep_stored = false;
  std::string out = {};  ///< the field to write. Default: the image's field, which the JPEG replaces
};

/// Makes a JPEG of each image. `field`: u8 [H, W, 1] or u8 [H, W, 3] becomes u8 [bytes]. With `.out` the image stays,
/// and the JPEG is a new field. Several encoders may take one image: it is decoded once, and the encoders do not change
/// each other's results. Image stages before this stage fold into the operation that makes the encoded image.
///
/// With `keep_stored`, the result is the stored JPEG if all of these are true:
/// - A source promises the image and has a JPEG of the whole image (`EncodedImage::stored_jpeg`), or `decode_jpeg` or
///   `decode_image` decoded it from a JPEG.
/// - The image was decoded to u8, with `color` = `rgb` or `as_stored`. A grey image may also have been decoded with
///   `gray`.
/// - The image does not have four inks. It was decoded without `accept_warnings`, and no orientation was applied. Its
///   `scale` was `full` or `fit`.
/// - The image has at most 2^28 pixels. If it was decoded with a higher `max_pixels` or `max_scans` than the default,
///   it has only one scan.
/// - No stage in between changed it. A crop of the whole image, a `random_flip` that did not flip, and a `filter` or
///   `map` that only reads the image are not changes. Two flips are a change.
/// - No `cache` and no `flat_map` is in between, and no stream promised the image. These three keep only pixels.
///
/// Otherwise the stage encodes the pixels. Whether it copies or encodes depends only on the sample, not on threads,
/// folding or `verify`. The stage reads only the header of a stored JPEG, so it may copy a file with damage after the
/// header. With `check({.verify = true})` in the pipeline, the file is decoded to its end before it is copied, and such
/// damage is an error. The stage copies everything that is in the file in addition to the image, for instance Exif data
/// with an orientation.
///
/// Errors of one sample: unsupported if a side is above 65,500 pixels, or if the number of channels depends on the
/// sample and is not 1 or 3.
/// @throws Error(invalid_argument) if an option is not as above.
/// @throws When it joins a pipeline, what `encode_stage` throws for images of u16, for a number of channels that is not
/// 1 or 3, and for labels.
PENSTOCK_API Stage encode_jpeg(std::string field = "image", const EncodeJpegStageOptions& options = {});

/// Returns the codec of the stage, for `encode_stage` and `encoded_bytes`. Any thread may call it.
/// @throws Error(invalid_argument) if an option is not as above.
PENSTOCK_API std::shared_ptr<const ImageEncoder> jpeg_encoder(const EncodeJpegOptions& options = {},
                                                              bool keep_stored = false);

}  // namespace penstock
