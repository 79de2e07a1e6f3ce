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

/// The file that an encoder makes, while it makes it. One thread at a time.
class PENSTOCK_API EncodedFile {
 public:
  /// Adds bytes to its end. They are copied. What it throws has to come out of `encode`; it may cross the frames of a C
  /// library that hold nothing which needs cleaning up. @throws Error(limit_exceeded) for a file that is larger than a
  /// value of the pipeline may be, Error(out_of_memory) as `Scratch::allocate`.
  virtual void append(std::span<const std::byte> bytes) = 0;

 protected:
  ~EncodedFile() = default;
};

/// A codec with its options, as a decoder is one (`ImageDecoder`). Any thread.
class PENSTOCK_API ImageEncoder {
 public:
  virtual ~ImageEncoder() = default;
  virtual std::string name() const = 0;      ///< "encode_jpeg"
  virtual std::string describe() const = 0;  ///< result options, for plan() and the fingerprint
  /// Whether it takes images of so many channels, 1 to 4, with values of this dtype, u8 or u16. Always the same.
  virtual bool takes(DType element, std::int32_t channels) const = 0;
  /// The longest side that it takes, in pixels.
  virtual std::int32_t max_side() const { return std::numeric_limits<std::int32_t>::max(); }
  /// Its mirror, the decoder, gives the very pixels that were encoded. A field of labels takes no other encoder.
  virtual bool lossless() const { return false; }
  /// For plan(): what becomes of a file that is there already ("stored JPEGs are kept where nothing was done to the
  /// image"); empty: it is never taken.
  virtual std::string keeps() const { return ""; }

  /// Makes a complete file of the image, which `takes` and `max_side` allow, and adds it to `out`. The same pixels make
  /// the same bytes, however their rows lie. `scratch` is for what it needs on the way.
  /// @throws Error; invalid_argument is one sample's, as unsupported, where it is thrown in a pipeline.
  virtual void encode(const Pixels& pixels, EncodedFile& out, Scratch& scratch) const = 0;
  /// A complete file of the image that is there already, as `EncodedImage::stored_jpeg` gives one: decoded, it has the
  /// image's pixels. Asked where nothing was done to the image; where the pipeline verifies (`check({.verify =
  /// true})`), it has been decoded to its end before. Empty: `encode` makes one. @throws Error as
  /// `EncodedImage::stored_jpeg`.
  virtual std::span<const std::byte> take(EncodedImage& /*image*/, Scratch& /*scratch*/) const { return {}; }
};

/// An encoder of your own as a stage: it replaces `field`, an image u8 or u16 [H, W, C], by the bytes of a file, u8
/// [?]:
///
///     pipeline | encode_stage("image", std::make_shared<MyEncoder>(), image_executor())
///
/// or, where `out` names another field, adds that one and leaves the image what it is. Image stages before it fold into
/// what it encodes, the decoding included, so one operation makes the pixels; those after it, where the image stays, go
/// on from there, and no pixel is decoded twice. The built-in encoders are written the same way. `executor` must live
/// as long as the program, as `image_executor()` does.
///
/// Errors of one sample: unsupported for an image that the encoder does not take, and what the encoder throws.
/// @throws Error(schema_mismatch), when it joins a pipeline, for a field that is no image, or none that the encoder
/// takes, as far as the schema tells; Error(invalid_argument) where there is a field `out` already, and for labels
/// where the encoder is not lossless.
PENSTOCK_API Stage encode_stage(std::string field, std::shared_ptr<const ImageEncoder> encoder,
                                const ImageExecutor& executor, const std::string& out = {});

/// What the encoder makes of an image, without a pipeline. Any thread. @throws what the encoder does,
/// Error(invalid_argument) for an image that it does not take.
PENSTOCK_API std::vector<std::byte> encoded_bytes(const ImageEncoder& encoder, const Pixels& pixels);

}  // namespace penstock
