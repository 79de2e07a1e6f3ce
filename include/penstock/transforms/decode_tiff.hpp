// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <penstock/detail/export.hpp>
#include <penstock/dtype.hpp>
#include <penstock/extend/image_decoder.hpp>
#include <penstock/stages/image_fields.hpp>
#include <penstock/stages/stage.hpp>

namespace penstock {

/// Settings of `decode_tiff`. All are result options.
struct TiffOptions {
  /// Which channels the result has.
  enum Color : std::uint8_t {
    rgb,        ///< [H, W, 3]; palettes are expanded, grey images get three equal channels, opacity is left out
    gray,       ///< [H, W, 1]; colours become grey like for `PngOptions::gray`
    rgba,       ///< [H, W, 4]; if the file has no opacity, every pixel gets the largest value (255 or 65535)
    as_stored,  ///< [H, W, C]: 1 channel for grey, 2 for grey with opacity, 3 for RGB or a palette, 4 for RGB with
                ///< opacity
    /// [H, W, 1], for label masks: the numbers that are stored in the file (palette indices or grey values), neither
    /// expanded, scaled nor inverted. Unsupported are images with colours or opacity, images that are compressed as
    /// JPEG or WebP, and images of 16 bits if `dtype` is u8.
    labels,
  };
  /// Which channels the result has.
  Color color = rgb;
  /// u8 or u16. With u16, 16-bit values stay as they are, in the machine's byte order. Other values are multiplied by
  /// 257, so that white is 65535. Values of `labels` are never multiplied.
  DType dtype = DType::u8;
  /// For images of 16 bits, if `dtype` is u8 and `color` is not `labels`. If true, values keep their upper 8 bits. If
  /// false, such an image is unsupported.
  bool high_byte = false;
  /// Limit on the pixels that an image declares. A larger image is refused before memory is taken.
  std::uint64_t max_pixels = std::uint64_t{1} << 28;
  /// If true, the image is turned and mirrored as its tag Orientation says. If false, it stays as stored. An invalid
  /// orientation is ignored.
  bool apply_orientation = false;
  /// Which page is decoded, counted from 0. By default, a file must have exactly one page. Reduced images and
  /// transparency masks, as their tags NewSubfileType and SubfileType say, are not pages. Neither are images below
  /// another one (SubIFDs).
  std::optional<std::uint32_t> page = std::nullopt;
};

/// Decodes TIFF and BigTIFF of either byte order, in strips or tiles, with interleaved channels or separate planes. It
/// reads grey (white or black as 0), RGB, palettes and YCbCr of JPEG. Values have 8 or 16 bits; grey and palettes may
/// also have 1, 2 or 4. Grey and RGB may have one more channel. If the file calls it opacity, it is opacity; otherwise
/// it is left out. Colours that the file has multiplied by their opacity are divided by it, like Pillow does. The upper
/// 8 bits of a palette's colours are kept if `dtype` is u8. Does not apply gamma or colour profiles.
///
/// Compressions are none, PackBits, LZW, Deflate, JPEG, Zstandard, LZMA, WebP and those of CCITT, as far as the
/// installed libtiff has them. A warning of libtiff or of its libraries while pixels are decoded is an error.
///
/// Image stages that follow decide which strips and tiles are decoded. A part's pixels are the same as if the whole
/// image were decoded. With `check({.verify = true})`, all strips and tiles are decoded. TIFF has no checksums of its
/// own: damage may only change pixels. Bytes that the page does not refer to are ignored.
///
/// libtiff and its codecs allocate memory of their own, which is not part of the loader's byte budget. A runner needs
/// memory for one strip or tile, unless its rows are rows of the result.
///
/// The first field: u8 [bytes] becomes u8 [H, W, 3] (or as `color` and `dtype` set). Image stages treat 16 bits as
/// after `decode_png`. Errors of decoding are of one sample: corrupt, limit_exceeded, unsupported. Unsupported are:
/// - several pages, unless `page` is set, and a page that the file lacks;
/// - CMYK and other inks, CIELab, YCbCr that is not JPEG, and further meanings of values;
/// - signed values, floating point, and other numbers of bits;
/// - several more channels than colours;
/// - other compressions;
/// - 16 bits for u8, and labels in colour.
///
/// A directory of more than 400 tags is above a limit, and so is a tile of more than 2^20 pixels that has more than
/// four times the image's.
/// Boxes, points and instance masks may follow it. They are of the stored image, and turn with it if
/// `apply_orientation` is set: `decode_tiff({"image", boxes("boxes")}, {.apply_orientation = true})`.
/// @throws Error(invalid_argument) like `tiff_decoder` and `decode_stage`.
PENSTOCK_API Stage decode_tiff(ImageFields fields = "image", const TiffOptions& options = {});

/// Returns the codec of the stage, for use without a pipeline. Any thread may call it.
/// @throws Error(invalid_argument) if `max_pixels` is below 1, or `dtype` is neither u8 nor u16.
PENSTOCK_API std::shared_ptr<const ImageDecoder> tiff_decoder(const TiffOptions& options = {});

}  // namespace penstock
