// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include <penstock/detail/export.hpp>
#include <penstock/extend/image_decoder.hpp>
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
  /// Limit on the pixels that an image declares. A larger image is refused before memory is taken. So is an image of
  /// several scans whose coefficients need more than 3 bytes per pixel of this limit.
  std::uint64_t max_pixels = std::uint64_t{1} << 28;
  /// A progressive image with more scans is refused, because each scan of a few bytes may cost a pass over the whole
  /// image. For the same reason, its pixels times its scans must not exceed 12 x 2^28, or 12 x `max_pixels` if that is
  /// more.
  int max_scans = 64;
  bool accept_warnings = false;  ///< if true, damage that libjpeg can guess around makes pixels, not an error
  /// What the four values of a CMYK or YCCK pixel mean. Colours are made from them without a profile, bit for bit like
  /// Pillow's convert. For inverted values, red is `K - (255 - C) * K / 255`, rounded; green and blue are likewise.
  /// Grey is made from these three like PngOptions::gray.
  enum class Cmyk : std::uint8_t {
    inverted,   ///< 255 means no ink, as Adobe's programs write it, and as Pillow and OpenCV read it
    by_marker,  ///< 255 means no ink if the file has Adobe's marker, else 0 does, as TensorFlow reads it
    refused,    ///< such images are unsupported
  };
  /// How CMYK becomes RGB.
  Cmyk cmyk = Cmyk::inverted;
  /// If true, the image is turned and mirrored as its Exif data says, like in OpenCV and Pillow's
  /// ImageOps.exif_transpose. If false, it stays as stored, like in Pillow's open and TensorFlow. Invalid Exif data is
  /// ignored.
  bool apply_orientation = false;
  /// Which code decodes. Both make the same bits, errors and warnings, if libjpeg-turbo uses its SIMD code, which every
  /// distribution has on x86-64 and arm64. Its plain C code makes different pixels for some damage that it does not
  /// notice.
  enum class Decoder : std::uint8_t {
    automatic,  ///< penstock's own code for undamaged baseline images, about twice as fast; libjpeg for all others
    libjpeg,    ///< libjpeg for all images
  };
  /// Which code decodes.
  Decoder decoder = Decoder::automatic;
  /// After `batch`, on a GPU: share of the images that the loader's threads decode although the GPU could, 0 to 1.
  /// Draws with the pipeline's seed choose the images.
  double host_share = 0;
  /// What happens to a loader with `decode_jpeg` after `batch` if its GPU has no engine for JPEGs, or nvJPEG is not
  /// installed. Fingerprints do not depend on what decodes.
  enum class WithoutEngine : std::uint8_t {
    error,  ///< the loader is refused
    host,   ///< the loader's threads decode
  };
  /// What happens to a loader without an engine.
  WithoutEngine without_engine = WithoutEngine::error;
};

/// Decodes baseline, extended and progressive JPEG of 8 bits, Huffman coded: grey, three colours or four inks. Uses
/// libjpeg's exact DCT and smooth ("fancy") upsampling. Stages that follow decide which part is decoded; its pixels are
/// the same as in a whole decode. A progressive image that lacks scans is decoded whole, because libjpeg smooths it.
/// If a baseline JPEG has restart markers that divide its rows of MCUs evenly (`seekable_jpeg` makes such files), a
/// part is decoded only from its own segments. Markers that do not fit the image's size are then an error (corrupt)
/// anywhere in the file; other damage is an error only in these segments.
///
/// A warning of libjpeg is an error, except if no pixel depends on it. The exceptions are stray bytes between the
/// segments of a header, an unknown version of JFIF, zeros for the parameters of a baseline scan, and zeros before the
/// end marker. Stray bytes are an error if they may be a damaged segment with tables, with the meaning of colours, or,
/// if it is used, with the orientation.
///
/// If an image is decoded whole, the bytes between its last pixel and the end marker are checked: other bytes, or a
/// missing marker, are an error. If a part is decoded, this happens only with `check({.verify = true})`. Bytes after
/// the marker are ignored.
///
/// `encode_jpeg` with `keep_stored` copies the file if the image is unchanged, and these options make the same pixels
/// as the defaults.
///
/// After `batch`, on a ragged field, it decodes on the device of the batch. On a GPU, the engines for JPEGs decode what
/// they can, and the loader's threads the rest; elsewhere, the threads decode everything. Data-centre GPUs from Ampere
/// on have engines. They are used through nvJPEG, which the program looks for when it runs.
/// An engine takes an image if all of these are true:
/// - It is baseline, with one scan and an end marker.
/// - It is grey, or has three colours with 4:4:4, or with 4:2:2 or 4:2:0 and a width above 4 pixels.
/// - Its sides are at most 8,192 pixels, and it is not turned.
/// - `color` is `rgb`.
///
/// Values are the same as libjpeg's, except that about one in ten thousand differs by 1 if chroma is upsampled. An
/// engine does not notice damage inside the scan; with `check({.verify = true})` the loader's threads decode all
/// images. An image stage must follow that gives all images one size.
///
/// `field`: u8 [bytes] becomes u8 [H, W, 3] (or as `color` sets). Errors, all of one sample: corrupt (with the byte
/// offset where the damage was noticed), unsupported (12 bits, arithmetic coding, lossless), limit_exceeded.
PENSTOCK_API Stage decode_jpeg(std::string field = "image", const JpegOptions& options = {});

/// Returns the codec of the stage, for use without a pipeline. Any thread may call it.
/// @throws Error(invalid_argument) if a limit is below 1, or `host_share` is not 0 to 1.
PENSTOCK_API std::shared_ptr<const ImageDecoder> jpeg_decoder(const JpegOptions& options = {});

/// Returns the orientation in the image's Exif data, which `JpegOptions::apply_orientation` applies. It is 2 to 8 if
/// the image is to be turned or mirrored, and 1 if it is not, or the data has none. Reads only the header. Any thread
/// may call it.
/// @throws Error(corrupt | unsupported | limit_exceeded) if `decode_jpeg` refuses the header with that option.
PENSTOCK_API int jpeg_orientation(std::span<const std::byte> encoded);

}  // namespace penstock
