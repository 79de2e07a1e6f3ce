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
  /// Appends a copy of the bytes. `encode` must pass on exceptions of this function. An exception may pass through
  /// functions of a C library only if they have nothing to clean up.
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
  /// Whether the encoder takes images with this number of channels (1 to 4) and values of this dtype (u8 or u16).
  /// Always returns the same for the same arguments.
  virtual bool takes(DType element, std::int32_t channels) const = 0;
  /// The longest side of an image that the encoder takes, in pixels.
  virtual std::int32_t max_side() const { return std::numeric_limits<std::int32_t>::max(); }
  /// Whether the matching decoder returns exactly the pixels that were encoded. A field of labels can only have a
  /// lossless encoder.
  virtual bool lossless() const { return false; }
  /// Returns, for plan(), what happens to an existing file ("stored JPEGs are kept where nothing was done to the
  /// image"). Returns an empty text if `take` never returns a file.
  virtual std::string keeps() const { return ""; }

  /// Makes a complete file of the image and appends it to `out`. The image is one that `takes` and `max_side` allow.
  /// Two images with the same pixels give the same file, even if their strides differ. `scratch` has memory for
  /// intermediate results.
  /// @throws Error. In a pipeline an Error(invalid_argument) is an error of one sample, like Error(unsupported).
  virtual void encode(const Pixels& pixels, EncodedFile& out, Scratch& scratch) const = 0;
  /// Returns an existing complete file of the image, as `EncodedImage::stored_jpeg` gives it. The file decodes to the
  /// image's pixels. Called if no stage changed the image. If the pipeline verifies (`check({.verify = true})`), the
  /// file was decoded to its end before this call. If the result is empty, `encode` makes a file.
  /// @throws Error like `EncodedImage::stored_jpeg`.
  virtual std::span<const std::byte> take(EncodedImage& /*image*/, Scratch& /*scratch*/) const { return {}; }
};

/// Makes a stage of a custom encoder. The stage replaces `field`, an image u8 or u16 [H, W, C], by the bytes of a file,
/// u8 [?]:
///
///     pipeline | encode_stage("image", std::make_shared<MyEncoder>(), image_executor())
///
/// If `out` names another field, the stage adds that field and leaves the image unchanged. The decoding and the image
/// stages before this stage fold into one operation that makes the pixels. If the image stays in the sample, later
/// image stages continue from these pixels, and no pixel is decoded twice. The built-in encoders are written the same
/// way. `executor` must live as long as the program, like `image_executor()`.
///
/// Errors of one sample: Error(unsupported) if the encoder does not take the image, and what the encoder throws.
/// Errors when the stage joins a pipeline:
/// @throws Error(schema_mismatch) if the schema shows that the field is not an image, or is an image that the encoder
/// does not take.
/// @throws Error(invalid_argument) if another field named `out` exists already, or if the field has labels and the
/// encoder is not lossless.
PENSTOCK_API Stage encode_stage(std::string field, std::shared_ptr<const ImageEncoder> encoder,
                                const ImageExecutor& executor, const std::string& out = {});

/// Returns what the encoder makes of an image, without a pipeline. Any thread.
/// @throws what the encoder throws; Error(invalid_argument) if the encoder does not take the image.
PENSTOCK_API std::vector<std::byte> encoded_bytes(const ImageEncoder& encoder, const Pixels& pixels);

}  // namespace penstock
