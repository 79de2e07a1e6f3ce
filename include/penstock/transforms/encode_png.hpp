// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <penstock/detail/export.hpp>
#include <penstock/extend/image_encoder.hpp>
#include <penstock/extend/image_op.hpp>
#include <penstock/stages/stage.hpp>

namespace penstock {

/// How to make a PNG from pixels. All are result options.
struct EncodePngOptions {
  /// How long to search for a small file. The pixels are the same. Photographs with noise are compressed as runs of
  /// equal bytes; `fast` and `normal` make the same files of most of them.
  enum Effort : std::uint8_t {
    fast,    ///< drawings and masks are up to a quarter larger than with `normal`, in less time
    normal,  ///< files are about as large as libpng's, in at most half of its time
    small,   ///< the smallest files: a few megabytes of pixels per second, and 9 MB of memory per runner
  };
  Effort effort = normal;  ///< how long to search for a small file
};

/// Makes a complete PNG file of an image with 8 or 16 bits per value. The image has 1 channel (grey), 2 channels (grey
/// with opacity), 3 channels (RGB) or 4 channels (RGB with opacity). With `color = as_stored`, or `labels` for 1
/// channel, and with `dtype = u16` for 16 bits, `decode_png` returns the same pixels. As long as the versions of
/// libdeflate and zlib are the same, the same pixels and options make the same bytes, on every CPU.
///
/// Each row gets the filter that suits it. A sample of the rows decides how the image is compressed. An image whose
/// rows, each with one byte more, have over 64 MiB is always compressed as runs. A smaller one needs memory for twice
/// these rows, and up to 5 MiB more.
///
/// Any thread may call it. To encode many images, `encoded_bytes` with one `png_encoder` is faster, because the encoder
/// keeps memory from one image to the next.
/// @throws Error(invalid_argument) if the image has another number of channels or an empty side, or `effort` is not
/// an `Effort`.
PENSTOCK_API std::vector<std::byte> encode_png(const Pixels& pixels, const EncodePngOptions& options = {});

/// Settings of the stage `encode_png`: the setting of EncodePngOptions, and a setting that only a stage has. All are
/// result options.
struct EncodePngStageOptions {
  EncodePngOptions::Effort effort = EncodePngOptions::normal;  ///< how long to search for a small file
  std::string out = {};  ///< the field to write. Default: the image's field, which the PNG replaces
};

/// Makes a PNG of each image, without loss. `field`: u8 or u16 [H, W, C], 1 to 4 channels, becomes u8 [bytes]. With
/// `.out` the image stays, and the PNG is a new field. Several encoders may take one image: it is decoded once, and the
/// encoders do not change each other's results. Image stages before this stage fold into the operation that makes the
/// encoded image.
/// @throws Error(invalid_argument) if `effort` is not `fast`, `normal` or `small`.
/// @throws When it joins a pipeline, what `encode_stage` throws.
PENSTOCK_API Stage encode_png(std::string field = "image", const EncodePngStageOptions& options = {});

/// Returns the codec of the stage, for `encode_stage` and `encoded_bytes`. Any thread may call it.
/// @throws Error(invalid_argument) if `effort` is not `fast`, `normal` or `small`.
PENSTOCK_API std::shared_ptr<const ImageEncoder> png_encoder(const EncodePngOptions& options = {});

}  // namespace penstock
