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

/// How a PNG is made of pixels. Result options.
struct EncodePngOptions {
  int compression = 6;  ///< 0, none, to 9, slowest and smallest. The pixels are the same
};

/// A complete PNG file of an image with values of 8 or 16 bits and 1 channel (grey), 2 (grey with opacity), 3 (RGB) or
/// 4 (RGB with opacity). `decode_png` with `color = as_stored`, and `dtype = u16` for 16 bits, gives the pixels back;
/// so does `labels`, for 1 channel. The same pixels make the same bytes, by one version of libpng and zlib. Any thread.
/// @throws Error(invalid_argument) for other channels, and another compression than 0 to 9.
PENSTOCK_API std::vector<std::byte> encode_png(const Pixels& pixels, const EncodePngOptions& options = {});

/// Settings of the stage `encode_png`: those of EncodePngOptions, and what only a stage can do. Result options.
struct EncodePngStageOptions {
  int compression = 6;   ///< 0, none, to 9, slowest and smallest. The pixels are the same
  std::string out = {};  ///< the field to write; default: the image's, in its place
};

/// Makes a PNG of each image, which loses nothing. `field`: u8 or u16 [H, W, C], 1 to 4 channels, to u8 [bytes]; with
/// `.out` the image stays, and the PNG is a new field. Several encoders may take one image: it is decoded once, and
/// each makes what it would make alone. Image stages before it fold into what is encoded.
/// @throws Error(invalid_argument) for another compression than 0 to 9; when it joins a pipeline as `encode_stage`.
PENSTOCK_API Stage encode_png(std::string field = "image", const EncodePngStageOptions& options = {});

/// The codec in it, for `encode_stage` and `encoded_bytes`. Any thread. @throws Error(invalid_argument) for another
/// compression than 0 to 9.
PENSTOCK_API std::shared_ptr<const ImageEncoder> png_encoder(const EncodePngOptions& options = {});

}  // namespace penstock
