#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include <penstock/detail/export.hpp>
#include <penstock/device.hpp>
#include <penstock/dtype.hpp>
#include <penstock/extend/image_executor.hpp>
#include <penstock/extend/image_op.hpp>
#include <penstock/extend/promised_image.hpp>
#include <penstock/stages/stage.hpp>

namespace penstock {

/// Decodes one image at a time, for one runner. One thread at a time.
class PENSTOCK_API ImageDecoding : public EncodedImage {
 public:
  virtual ~ImageDecoding() = default;
  /// Reads the header and checks what it declares against the limits, before anything is allocated for pixels.
  /// `encoded` must stay until the next `open`. @throws Error(corrupt | unsupported | limit_exceeded).
  virtual ImageShape open(std::span<const std::byte> encoded) = 0;
  /// What one may not expect of the opened image's pixels, in words that go on after "5 images": "had a palette, ...".
  /// A loader's report says them. One text of all images, which lives as long as the program; null: nothing.
  virtual const char* remark() const { return nullptr; }
  /// Whether a BatchDecoding of the same decoder takes the opened image.
  virtual bool for_batches() const { return false; }
};

/// Decodes images of whole batches on a device, for one loader. One thread at a time, which has chosen the device.
class PENSTOCK_API BatchDecoding {
 public:
  /// One image of a batch.
  struct Image {
    /// The encoded image, in the host's memory; stays until `stream` has come past the decode.
    std::span<const std::byte> encoded;
    ImageShape shape;             ///< the image's shape, as `ImageDecoding::open` said it
    std::byte* pixels = nullptr;  ///< where the pixels go, on the device: contiguous rows; may be written to at once
  };
  virtual ~BatchDecoding() = default;
  /// Has all of them, one at least, decoded before what is put on `stream` after it, and does not wait for that. It is
  /// called again while its last call's work goes on, but not before the work of the call before that is done. Damage
  /// inside an image need not be noticed: its pixels are then any. False: the device can't decode one of them, and may
  /// have decoded some: the loader decodes all of them on the host, which takes longer, and says so in its report.
  /// @throws Error(device | out_of_memory).
  virtual bool decode(std::span<const Image> images, StreamRef stream) = 0;
};

/// A codec with its options. Any thread.
class PENSTOCK_API ImageDecoder {
 public:
  virtual ~ImageDecoder() = default;
  virtual std::string name() const = 0;              ///< "decode_jpeg"
  virtual std::string describe() const = 0;          ///< result options, for plan() and the fingerprint
  virtual std::int64_t channels() const = 0;         ///< channels that every image has, or `dynamic`
  virtual DType dtype() const { return DType::u8; }  ///< type of every image's values: u8 or u16
  /// The values are labels, as they are in the file: an image stage that would interpolate them is refused.
  virtual bool labels() const { return false; }
  /// For plan(), where the field is used as a mask: what becomes of labels that are in the file; empty: nothing.
  virtual std::string labels_become() const { return ""; }
  /// For plan(): what becomes of damage outside the region that is decoded.
  virtual std::string damage_elsewhere() const {
    return "damage elsewhere is left to the source's checksum, if it has one";
  }
  /// A new decoding, for one runner.
  virtual std::unique_ptr<ImageDecoding> start() const = 0;
  /// A new decoding of whole batches, for a stage after `batch`; null where that device has none: then the loader's
  /// threads decode. A loader asks more than once, with the same answer. The calling thread has chosen the device.
  /// @throws Error(unsupported) where that is not wanted either.
  virtual std::unique_ptr<BatchDecoding> start_batches(Device device) const {
    static_cast<void>(device);
    return nullptr;
  }
  /// The share of images that a BatchDecoding would take and the loader's threads decode all the same: 0 to 1.
  virtual double host_share() const { return 0; }
};

/// A decoder of your own as a stage: it replaces `field`, u8 [N], the encoded bytes of one image, by the pixels,
/// [H, W, C] in the decoder's dtype:
///
///     pipeline | decode_stage("image", std::make_shared<MyDecoder>(), image_executor())
///
/// Image stages after it fold into it: a crop decodes only the pixels that it keeps, where the decoder can do that.
/// The built-in decoders are written the same way. After `batch` it takes ragged fields, images of any size come out,
/// and an image stage has to follow that gives them one. `executor` must live as long as the program, as
/// `image_executor()` does. @throws Error(schema_mismatch), when it joins a pipeline, for a field that is no u8 [N]
/// (after `batch`: and ragged); Error(unsupported) after `batch` for a decoder of 16 bits or of unknown channels.
PENSTOCK_API Stage decode_stage(std::string field, std::shared_ptr<const ImageDecoder> decoder,
                                const ImageExecutor& executor);

}  // namespace penstock
