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

/// How a JPEG is made of pixels. Result options.
struct EncodeJpegOptions {
  int quality = 90;       ///< quality of the JPEG, 1 to 100
  int subsampling = 420;  ///< how colours are stored: 444, 422 (halved across), 440 (halved down) or 420 (both)
  /// Result option: several scans, smaller files, slower to decode.
  bool progressive = false;
  int restart_rows = 0;  ///< a restart marker every so many rows of blocks; 0 = none
};

/// A complete JPEG file of an image with 1 channel (grey) or 3 (RGB). Any thread.
/// @throws Error(invalid_argument) for other channels, a side above 65,500 pixels, or options that are not as above.
PENSTOCK_API std::vector<std::byte> encode_jpeg(const Pixels& pixels, const EncodeJpegOptions& options = {});

/// Settings of the stage `encode_jpeg`: those of EncodeJpegOptions, and what only a stage can do. Result options.
struct EncodeJpegStageOptions {
  int quality = 90;          ///< quality of the JPEG, 1 to 100
  int subsampling = 420;     ///< how colours are stored: 444, 422, 440 or 420
  bool progressive = false;  ///< several scans, smaller files, slower to decode
  int restart_rows = 0;      ///< a restart marker every so many rows of blocks; 0 = none
  /// Where the image comes of a JPEG and nothing was done to it, that file is the result, byte for byte, whatever the
  /// options above say: nothing is lost by encoding again, and nothing need be decoded. Below it says when.
  bool keep_stored = false;
  std::string out = {};  ///< the field to write; default: the image's, in its place
};

/// Makes a JPEG of each image. `field`: u8 [H, W, 1] or u8 [H, W, 3] to u8 [bytes]; with `.out` the image stays, and
/// the JPEG is a new field. Several encoders may take one image: it is decoded once, and each makes what it would make
/// alone. Image stages before it fold into what is encoded.
///
/// With `.keep_stored` the stored JPEG is taken where
/// - a source promises the image and has a JPEG of all of it (`EncodedImage::stored_jpeg`), or `decode_jpeg` or
///   `decode_image` made it of one, in the colours that are stored: as `rgb` or `as_stored`, a grey one also as `gray`.
///   Not of four inks, not with `accept_warnings` or where an orientation was applied, not above limits that
///   `JpegOptions` has by default, and not as u16;
/// - each stage between did nothing to it: a crop of everything, a `random_flip` that did not flip, a `filter` or `map`
///   that only reads it. Two flips are something;
/// - and no `cache` and no `flat_map` stands between: these keep pixels, as a stream does of what it promises.
///
/// Otherwise pixels are encoded. That depends on the sample alone: not on threads, on folding, or on `.verify`. Of a
/// file that is taken the header is read, and damage behind it may be copied, unless `check({.verify = true})` is in
/// the pipeline: then it has been decoded to its end before, and damage is the error that it is for pixels. What stands
/// in the file besides the image is copied too, Exif data and an orientation among it.
///
/// Errors of one sample: unsupported (other channels than 1 or 3 where only the sample tells them, a side above 65,500
/// pixels). @throws Error(invalid_argument) for options that are not as above; when it joins a pipeline as
/// `encode_stage`: so for u16, for other channels, and for labels.
PENSTOCK_API Stage encode_jpeg(std::string field = "image", const EncodeJpegStageOptions& options = {});

/// The codec in it, for `encode_stage` and `encoded_bytes`. Any thread. @throws Error(invalid_argument) for options
/// that are not as above.
PENSTOCK_API std::shared_ptr<const ImageEncoder> jpeg_encoder(const EncodeJpegOptions& options = {},
                                                              bool keep_stored = false);

}  // namespace penstock
