// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include <penstock/detail/export.hpp>
#include <penstock/extend/image_decoder.hpp>
#include <penstock/stages/image_fields.hpp>
#include <penstock/stages/stage.hpp>

namespace penstock {

/// Settings of `decode_jpeg`. All are result options, except `decoder` and `without_engine`.
struct JpegOptions {
  /// Which channels the result has.
  enum Color : std::uint8_t {
    rgb,        ///< [H, W, 3]; grey images get three equal channels
    gray,       ///< [H, W, 1]
    as_stored,  ///< [H, W, 1] for grey images, [H, W, 3] for others
  };
  /// Which channels the result has.
  Color color = rgb;
  /// At which size images are decoded. A reduced image takes less time, and has libjpeg's pixels at that size. These
  /// are close to those of the whole image shrunk, but not the same.
  enum class Scale : std::uint8_t {
    full,     ///< all pixels
    half,     ///< half of the height and width, rounded up; the stages that follow see an image of this size
    quarter,  ///< a quarter, likewise
    eighth,   ///< an eighth, likewise
    /// As small as the first resize that follows allows. Stages see the full size, and draw the same as with `full`.
    /// The part of the image that is resized is decoded at 1/8, 1/4 or 1/2 of its size. The first of these is taken at
    /// which its height and width, not rounded, are at least those of the result. Only crops and flips may come before
    /// the resize, and it must be linear; otherwise the image is decoded in full. A `cache` must come after the resize.
    fit,
  };
  /// At which size the image is decoded.
  Scale scale = Scale::full;
  /// Limit on the pixels that an image declares. A larger image is refused before memory is taken. An image of several
  /// scans is also refused if its coefficients need more than 3 x `max_pixels` bytes.
  std::uint64_t max_pixels = std::uint64_t{1} << 28;
  /// An image with more scans than this is refused, because each scan of a few bytes may cost a pass over the whole
  /// image. For the same reason, the number of pixels times the number of scans must not exceed 12 x 2^28, or 12 x
  /// `max_pixels` if that is more.
  int max_scans = 64;
  bool accept_warnings = false;  ///< if true, damage is not an error as long as libjpeg can guess the pixels
  /// What the four values of a CMYK or YCCK pixel mean. The four values become RGB without a colour profile, bit for
  /// bit like Pillow's convert. For inverted values, red is `K - (255 - C) * K / 255`, rounded; green and blue are
  /// computed likewise. Grey is made from RGB like for PngOptions::gray.
  enum class Cmyk : std::uint8_t {
    inverted,   ///< 255 means no ink, as Adobe's programs write it, and as Pillow and OpenCV read it
    by_marker,  ///< 255 means no ink if the file has Adobe's marker; otherwise 0 does. TensorFlow reads it like this
    refused,    ///< CMYK and YCCK images are unsupported
  };
  /// What the four values of a CMYK or YCCK pixel mean.
  Cmyk cmyk = Cmyk::inverted;
  /// If true, the image is turned and mirrored as its Exif data says, like in OpenCV and Pillow's
  /// ImageOps.exif_transpose. If false, the image stays as stored, like in Pillow's open and TensorFlow. Invalid Exif
  /// data is ignored.
  bool apply_orientation = false;
  /// Which code decodes. Both values make the same bits, errors and warnings if libjpeg-turbo uses its SIMD code, which
  /// every distribution has on x86-64 and arm64. The plain C code of libjpeg-turbo makes different pixels of some
  /// images whose damage it does not notice.
  enum class Decoder : std::uint8_t {
    automatic,  ///< penstock's own code for undamaged baseline images, about twice as fast; libjpeg for all others
    libjpeg,    ///< libjpeg for all images
  };
  /// Which code decodes.
  Decoder decoder = Decoder::automatic;
  /// This option has an effect only after `batch`, on a GPU. The loader's threads decode this share, 0 to 1, of the
  /// images that the GPU could decode. Draws with the pipeline's seed choose the images for the threads.
  double host_share = 0;
  /// What happens to a loader with `decode_jpeg` after `batch` if its GPU has no engine for JPEGs, or nvJPEG is not
  /// installed. The option has no effect if no image would go to an engine: if `color` is not `rgb`, `scale` is not
  /// `full`, `host_share` is 1, or with `check({.verify = true})`. Fingerprints do not depend on this option.
  enum class WithoutEngine : std::uint8_t {
    error,  ///< the loader is refused
    host,   ///< the loader's threads decode
  };
  /// What happens to a loader without an engine.
  WithoutEngine without_engine = WithoutEngine::error;
};

/// Returns "full", "half", "quarter", "eighth" or "fit".
PENSTOCK_API std::string to_string(JpegOptions::Scale scale);

/// Decodes JPEG with Huffman codes and 8 bits: baseline, extended or progressive, with grey, three colours or four
/// inks. Uses libjpeg's exact DCT and smooth ("fancy") upsampling. Image stages that follow decide which part of the
/// image is decoded. The part's pixels are the same as if the whole image were decoded. A progressive image that lacks
/// scans is decoded whole, because libjpeg smooths it.
/// If a baseline JPEG has restart markers that divide its rows of MCUs evenly (`seekable_jpeg` makes such files), only
/// the segments between markers that the part needs are decoded. In such a file, restart markers that do not fit the
/// image's size are an error (corrupt) anywhere. Other damage is an error only in segments that are decoded.
///
/// A warning of libjpeg is an error if a pixel may depend on the cause of the warning. So four causes are not errors:
/// stray bytes between a header's segments, an unknown version of JFIF, zeros for a baseline scan's parameters, and
/// zeros before the end marker. But stray bytes are an error if they may be a damaged segment that pixels depend on.
/// Such a segment has tables, the meaning of colours, or, with `apply_orientation`, the orientation.
///
/// If an image is decoded whole, the end marker must follow the data of the last pixel. It is an error if the marker is
/// missing, or if bytes that are not zero come before it. If only a part is decoded, the marker and the bytes before it
/// are checked only with `check({.verify = true})`. Bytes after the end marker are ignored.
///
/// After this stage, `encode_jpeg` with `keep_stored` can copy the file instead of encoding the image. `encode_jpeg`
/// lists the conditions.
///
/// If this stage stands after `batch`, on a ragged field, it decodes on the device of the batch. On a GPU, engines for
/// JPEGs decode the images that they can decode, and the loader's threads decode the other images. On other devices,
/// the loader's threads decode all images. Data-centre GPUs since Ampere have engines. Penstock uses the engines
/// through nvJPEG, and looks for nvJPEG at run time. An engine takes an image if all of these are true:
/// - The image is baseline and has one scan. The file ends with the end marker.
/// - The image is grey, or its three components are YCbCr.
/// - Chroma is 4:4:4, or, if the image is wider than 4 pixels, 4:2:2 or 4:2:0.
/// - The sides are at most 8,192 pixels, and no orientation is applied.
/// - `color` is `rgb`, and `scale` is `full`.
///
/// If chroma is upsampled, about one value in ten thousand from an engine differs by 1 from libjpeg's. All other values
/// are the same. An engine does not notice damage inside the scan. So with `check({.verify = true})`, the loader's
/// threads decode all images. If `decode_jpeg` stands after `batch`, an image stage that gives all images one size must
/// follow, and `scale` must not be `fit`.
///
/// The first field: u8 [bytes] becomes u8 [H, W, 3] (or as `color` sets). Errors of decoding are of one sample: corrupt
/// (with the byte offset where the damage was noticed), unsupported (12 bits, arithmetic coding, lossless),
/// limit_exceeded. Boxes, points and instance masks may follow it. They are of the stored image, and turn with it if
/// `apply_orientation` is set: `decode_jpeg({"image", boxes("boxes")}, {.apply_orientation = true})`.
/// @throws Error(invalid_argument) like `jpeg_decoder` and `decode_stage`.
PENSTOCK_API Stage decode_jpeg(ImageFields fields = "image", const JpegOptions& options = {});

/// Returns the codec of the stage, for use without a pipeline. Any thread may call it.
/// @throws Error(invalid_argument) if a limit is below 1, or `host_share` is not 0 to 1.
PENSTOCK_API std::shared_ptr<const ImageDecoder> jpeg_decoder(const JpegOptions& options = {});

/// Returns the orientation in the image's Exif data, which `JpegOptions::apply_orientation` applies. It is 2 to 8 if
/// the image is to be turned or mirrored. It is 1 if the image is not to be changed, or if it has no valid orientation.
/// Reads only the header. Any thread may call it.
/// @throws Error(corrupt | unsupported | limit_exceeded) if `decode_jpeg` with `apply_orientation` refuses the header.
PENSTOCK_API int jpeg_orientation(std::span<const std::byte> encoded);

}  // namespace penstock
