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

/// Result options of `decode_jpeg`.
struct JpegOptions {
  /// Which channels come out.
  enum Color : std::uint8_t {
    rgb,        ///< [H, W, 3]; grey images have three equal channels
    gray,       ///< [H, W, 1]
    as_stored,  ///< [H, W, 1] for grey images, [H, W, 3] for others
  };
  /// Which channels come out.
  Color color = rgb;
  /// An image that declares more is refused before memory is taken; so are coefficients (of a progressive image) above
  /// 3 bytes each.
  std::uint64_t max_pixels = std::uint64_t{1} << 28;
  /// A progressive image with more scans is refused; so is one whose pixels times its scans are more than 12 x 2^28 (or
  /// 12 x max_pixels, where that is more): each scan goes through the whole image, and may take a few bytes.
  int max_scans = 64;
  bool accept_warnings = false;  ///< true: damage that libjpeg can guess its way around makes pixels, not an error
  /// What the four values of a CMYK or YCCK pixel mean. Colours are made of them without a profile, as Pillow's
  /// convert makes them, bit for bit: of inverted values red is `K - (255 - C) * K / 255`, rounded, green and blue
  /// likewise, and grey is made of these three as PngOptions::gray says.
  enum class Cmyk : std::uint8_t {
    inverted,   ///< 255 is no ink, as Adobe's programs write them, and as Pillow and OpenCV read them
    by_marker,  ///< 255 is no ink where the file has Adobe's marker, else 0 is, as TensorFlow reads them
    refused,    ///< such images are unsupported
  };
  /// How CMYK becomes RGB.
  Cmyk cmyk = Cmyk::inverted;
  /// true: the image is turned and mirrored as its Exif data says, as OpenCV does and Pillow's ImageOps.exif_transpose;
  /// false: it is as stored, as with Pillow's open and TensorFlow. Exif data that makes no sense says nothing.
  bool apply_orientation = false;
  /// Which code decodes. Both give the same bits, errors and warnings. (So they do with libjpeg-turbo's SIMD code,
  /// which every distribution has on x86-64 and arm64. Its plain C code has other pixels for some damage that it does
  /// not notice.)
  enum class Decoder : std::uint8_t {
    automatic,  ///< penstock's own for undamaged baseline images, about twice as fast; libjpeg for all others
    libjpeg,    ///< libjpeg for all
  };
  /// Which code decodes.
  Decoder decoder = Decoder::automatic;
  /// After `batch`, on a GPU: of the images that the GPU could decode, the share that the loader's threads decode all
  /// the same, 0 to 1. Which ones, draws that have the pipeline's seed tell.
  double host_share = 0;
  /// What becomes of a loader whose GPU has no engine for JPEGs, or where nvJPEG is not installed, with `decode_jpeg`
  /// after `batch`. Fingerprints don't tell who decodes.
  enum class WithoutEngine : std::uint8_t {
    error,  ///< the loader is refused
    host,   ///< the loader's threads decode
  };
  /// What becomes of a loader without an engine.
  WithoutEngine without_engine = WithoutEngine::error;
};

/// Decodes baseline, extended and progressive JPEG of 8 bits, Huffman coded, grey, in three colours or in four inks,
/// with libjpeg's exact DCT and smooth ("fancy") upsampling. Stages that follow decide which part is decoded; its
/// pixels are those of a whole decode. (A progressive image that lacks scans, which libjpeg smooths, is decoded whole.)
/// Where a baseline JPEG has restart markers that divide its rows of MCUs evenly (`seekable_jpeg` makes such files), a
/// part is decoded from its own segments alone; markers that are not those of the image's size are then an error
/// (corrupt) wherever they are, other damage only in these segments.
///
/// What libjpeg warns of is an error, except where no pixel depends on it: stray bytes between the segments of a
/// header, an unknown version of JFIF, zeros for the parameters of a baseline scan, zeros before the marker of the end.
/// Stray bytes that may be a damaged segment with tables, with the meaning of colours, or, where it counts, with the
/// orientation are an error.
///
/// Where an image is decoded whole, what follows its last pixel is looked at up to the marker of the end: other bytes
/// there, and a missing marker, are an error. Of a part, only with `check({.verify = true})`. What follows the marker
/// is ignored.
///
/// `encode_jpeg` with `.keep_stored`, after an image to which nothing was done, copies the file, where these options
/// make the pixels that default options would.
///
/// After `batch`, of a ragged field, it decodes where the batch ends up: on a GPU by its engines for JPEGs (Ampere's
/// and later data centres', through nvJPEG, which is looked for when the program runs), what these don't take by the
/// loader's threads, and elsewhere all by these. An engine takes baseline images of one scan that end with their
/// marker, in three colours of 4:4:4, or of 4:2:2 or 4:2:0 and wider than 4 pixels, or, for `rgb`, grey, of sides up to
/// 8,192 pixels, where they are not turned. Its values are libjpeg's, except that where chroma is upsampled about one
/// in ten thousand differs by 1. Damage inside of the scan is not noticed there; with `check({.verify = true})` the
/// loader's threads decode all. An image stage has to follow that gives the images one size.
///
/// `field`: u8 [bytes] to u8 [H, W, 3] (or as `color` says). Errors, all of one sample: corrupt (with the byte offset
/// where the damage was noticed), unsupported (12 bits, arithmetic coding, lossless), limit_exceeded.
PENSTOCK_API Stage decode_jpeg(std::string field = "image", const JpegOptions& options = {});

/// The codec in it, for use without a pipeline. Any thread. @throws Error(invalid_argument) for limits below 1.
PENSTOCK_API std::shared_ptr<const ImageDecoder> jpeg_decoder(const JpegOptions& options = {});

/// How the image is to be turned and mirrored, as its Exif data says: 2 to 8; 1: not at all, or the data says nothing.
/// What `JpegOptions::apply_orientation` goes by, read from the header alone. Any thread. @throws Error(corrupt |
/// unsupported | limit_exceeded) for a header that `decode_jpeg` refuses with that option.
PENSTOCK_API int jpeg_orientation(std::span<const std::byte> encoded);

}  // namespace penstock
