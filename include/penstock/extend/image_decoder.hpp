// SPDX-License-Identifier: Apache-2.0
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
#include <penstock/stages/image_fields.hpp>
#include <penstock/stages/stage.hpp>

namespace penstock {

/// Decodes one image at a time, for one runner. One thread at a time.
class PENSTOCK_API ImageDecoding : public EncodedImage {
 public:
  virtual ~ImageDecoding() = default;
  /// Reads the header and checks the declared size against the limits before anything is allocated for pixels.
  /// `encoded` must stay valid until the next `open`.
  /// @throws Error(corrupt | unsupported | limit_exceeded).
  virtual ImageShape open(std::span<const std::byte> encoded) = 0;
  /// Returns how the opened image is turned and mirrored, compared with the stored one: 1 (not at all) to 8, as in Exif
  /// data. Boxes and other fields that follow the decoder are moved likewise.
  virtual int orientation() const { return 1; }
  /// Returns what is unexpected about the opened image's pixels, or null if nothing is. A loader's report puts the text
  /// after "5 images": "had a palette, ...". The text is the same for all images and lives as long as the program.
  virtual const char* remark() const { return nullptr; }
  /// Whether a BatchDecoding of the same decoder takes the opened image.
  virtual bool for_batches() const { return false; }
  /// Returns the reduced image from which `box` of the opened image is to be resampled to `resized` by Filter::linear.
  /// The height and width of the box, divided by `Reduction::by` and not rounded, must be at least those of `resized`.
  /// By default, it is the image itself. Called only if the decoder `reduces()`.
  virtual Reduction reduction(const Box& /*box*/, Size /*resized*/) const { return {}; }
  /// Decodes `box` of a reduced image, in pixels of that image, which is inside it. `reduction` is one that
  /// `reduction()` returned for the opened image, and not the image itself. Otherwise like `decode`.
  /// @throws Error like `decode`. By default, Error(unsupported).
  virtual Pixels decode_reduced(const Reduction& reduction, const Box& box, bool verify, Scratch& scratch);
};

/// Decodes images of whole batches on a device, for one loader. One thread at a time calls it, after making the device
/// current.
class PENSTOCK_API BatchDecoding {
 public:
  /// One image of a batch.
  struct Image {
    /// The encoded image, in the host's memory. It stays valid until the decoding on `stream` is done.
    std::span<const std::byte> encoded;
    ImageShape shape;             ///< the image's shape, as `ImageDecoding::open` returned it
    std::byte* pixels = nullptr;  ///< device memory for the pixels, in contiguous rows; may be written to immediately
  };
  virtual ~BatchDecoding() = default;
  /// Enqueues the decoding of `images`, at least one, and returns without waiting. Work that is put on `stream`
  /// afterwards sees the pixels. The loader may call this while the work of the previous call is still running, but
  /// only after the work of all earlier calls is done. Damage inside an image may go unnoticed. The pixels of a damaged
  /// image are undefined.
  ///
  /// Returns false if the device can't decode one of the images, even if it has decoded others. The loader then decodes
  /// all `images` on the host, which takes longer. The loader's report says so.
  /// @throws Error(device | out_of_memory).
  virtual bool decode(std::span<const Image> images, StreamRef stream) = 0;
};

/// A codec with its options. Any thread.
class PENSTOCK_API ImageDecoder {
 public:
  virtual ~ImageDecoder() = default;
  virtual std::string name() const = 0;              ///< "decode_jpeg"
  virtual std::string describe() const = 0;          ///< result options, for plan() and the fingerprint
  virtual std::int64_t channels() const = 0;         ///< number of channels of every image, or `dynamic`
  virtual DType dtype() const { return DType::u8; }  ///< type of every image's values: u8 or u16
  /// Whether the decoded values are labels, unchanged from the file. An image stage that would interpolate labels is
  /// refused.
  virtual bool labels() const { return false; }
  /// Returns, for plan(), what happens to the file's labels if the field is used as a mask. Returns an empty text if
  /// the labels stay unchanged.
  virtual std::string labels_become() const { return ""; }
  /// Returns, for plan(), what happens to damage outside the decoded region.
  virtual std::string damage_elsewhere() const {
    return "damage elsewhere is left to the source's checksum, if it has one";
  }
  /// Returns, for plan(), at which size images are decoded, like "decoded at 1/8 of the size". Returns an empty text if
  /// that is always the full size.
  virtual std::string scaling() const { return ""; }
  /// Whether decodings may decode a reduced image if a resize follows. The decoder then can't stand after `batch`.
  virtual bool reduces() const { return false; }
  /// Returns a new decoding, for one runner.
  virtual std::unique_ptr<ImageDecoding> start() const = 0;
  /// Returns a new decoding of whole batches, for a stage after `batch`. Returns null if the decoder can't decode on
  /// this device; the loader's threads decode then. A loader calls this function more than once, and must get null each
  /// time or never. The calling thread has made the device current.
  /// @throws Error(unsupported) if the loader's threads must not decode either.
  virtual std::unique_ptr<BatchDecoding> start_batches(Device device) const {
    static_cast<void>(device);
    return nullptr;
  }
  /// Returns a share (0 to 1) of the images that a BatchDecoding could decode. The loader's threads decode this share
  /// on the host.
  virtual double host_share() const { return 0; }
};

/// Makes a stage of a custom decoder. The stage replaces the first field, u8 [N], the encoded bytes of one image, by
/// the pixels, [H, W, C] in the decoder's dtype:
///
///     pipeline | decode_stage("image", std::make_shared<MyDecoder>(), image_executor())
///
/// Image stages after the decoder fold into it. For example, if a crop follows, a decoder that can decode a part of an
/// image decodes only the pixels that the crop keeps. The built-in decoders are written the same way. After `batch` the
/// stage takes a ragged field, and makes images that may differ in size. Then an image stage that gives all images the
/// same size must follow. `executor` must live as long as the program, like `image_executor()`.
///
/// `fields`: the image, and boxes, points and instance masks that follow it. They are of the stored image, and are
/// moved as `ImageDecoding::orientation` says. Their sizes are checked against the image's, like those of other image
/// stages.
///
/// When the stage joins a pipeline, throws
/// - Error(invalid_argument) if a further field is an image or a crop. Also if fields follow a decoder that always
///   decodes at a part of the size (`scaling()`, but not `reduces()`);
/// - Error(schema_mismatch) if the field is not u8 [N], or, after `batch`, is not ragged; or if a field can't follow;
/// - Error(unsupported) after `batch` if the decoder makes values of 16 bits, or an unknown number of channels, or
///   `reduces()`.
PENSTOCK_API Stage decode_stage(ImageFields fields, std::shared_ptr<const ImageDecoder> decoder,
                                const ImageExecutor& executor);

}  // namespace penstock
