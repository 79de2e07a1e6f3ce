// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <penstock/detail/export.hpp>
#include <penstock/dtype.hpp>
#include <penstock/extend/image_executor.hpp>
#include <penstock/extend/image_op.hpp>
#include <penstock/extend/promised_image.hpp>
#include <penstock/stages/stage.hpp>

namespace penstock {

/// The file that an encoder is making. One thread at a time.
class PENSTOCK_API EncodedFile {
 public:
  /// Appends a copy of the bytes. Exceptions of this function must leave `encode`. They may cross frames of a C library
  /// that hold nothing which needs cleaning up.
  /// @throws Error(limit_exceeded) if the file is larger than a value of the pipeline may be; Error(out_of_memory) like
  /// `Scratch::allocate`.
  virtual void append(std::span<const std::byte> bytes) = 0;

 protected:
  ~EncodedFile() = default;
};

/// A codec with its options, the counterpart of `ImageDecoder`. Any thread.
class PENSTOCK_API ImageEncoder {
 public:
  virtual ~ImageEncoder() = default;
  virtual std::string name() const = 0;      ///< "encode_jpeg"
  virtual std::string describe() const = 0;  ///< result options, for plan() and the fingerprint
  /// Whether it takes images with this number of channels, 1 to 4, and values of this dtype, u8 or u16. Always returns
  /// the same.
  virtual bool takes(DType element, std::int32_t channels) const = 0;
  /// The longest side that it takes, in pixels.
  virtual std::int32_t max_side() const { return std::numeric_limits<std::int32_t>::max(); }
  /// Whether the matching decoder returns exactly the pixels that were encoded. A field of labels takes only such an
  /// encoder.
  virtual bool lossless() const { return false; }
  /// For plan(): what happens to an existing file ("stored JPEGs are kept where nothing was done to the image"). Empty:
  /// `take` never returns one.
  virtual std::string keeps() const { return ""; }

  /// Makes a complete file of the image and appends it to `out`. `takes` and `max_side` allow the image. The same
  /// pixels make the same bytes, whatever their stride. `scratch` is for intermediate results.
  /// @throws Error. In a pipeline an Error(invalid_argument) is an error of one sample, like Error(unsupported).
  virtual void encode(const Pixels& pixels, EncodedFile& out, Scratch& scratch) const = 0;
  /// Returns an existing complete file of the image, as `EncodedImage::stored_jpeg` gives it. Decoded, it has the
  /// image's pixels. Called if no stage changed the image. If the pipeline verifies (`check({.verify = true})`), the
  /// file was decoded to its end before. Empty: `encode` makes a file.
  /// @throws Error like `EncodedImage::stored_jpeg`.
  virtual std::span<const std::byte> take(EncodedImage& /*image*/, Scratch& /*scratch*/) const { return {}; }
};

/// Makes a stage of a custom encoder. It replaces `field`, an image u8 or u16 [H, W, C], by the bytes of a file, u8
/// [?]:
///
///     pipeline | encode_stage("image", std::make_shared<MyEncoder>(), image_executor())
///
/// If `out` names another field, the stage adds that field and leaves the image unchanged. Image stages before it, and
/// the decoding, fold into one operation that makes the pixels. If the image stays, later image stages continue from
/// these pixels, and no pixel is decoded twice. The built-in encoders are written the same way. `executor` must live as
/// long as the program, like `image_executor()`.
///
/// Errors of one sample: Error(unsupported) if the encoder does not take the image, and what the encoder throws.
/// When the stage joins a pipeline:
/// @throws Error(schema_mismatch) if the schema shows that the field is not an image, or not one that the encoder
/// takes.
/// @throws Error(invalid_argument) if a field `out` exists already, or if the field is one of labels and the encoder is
/// not lossless.
PENSTOCK_API Stage encode_stage(std::string field, std::shared_ptr<const ImageEncoder> encoder,
                                const ImageExecutor& executor, const std::string& out = {});

/// Returns what the encoder makes of an image, without a pipeline. Any thread.
/// @throws what the encoder throws; Error(invalid_argument) if the encoder does not take the image.
PENSTOCK_API std::vector<std::byte> encoded_bytes(const ImageEncoder& encoder, const Pixels& pixels);

}  // namespace penstock
