// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include <penstock/detail/export.hpp>
#include <penstock/extend/image_executor.hpp>
#include <penstock/extend/image_op.hpp>

namespace penstock {

/// An image that is still encoded. One thread at a time.
class PENSTOCK_API EncodedImage {
 public:
  /// Decodes at least `box` of the image. Returns exactly the pixels of `box`, with the same bits as a full decode. If
  /// `into` is not null and `box` is the whole image, the pixels are at `into`, in contiguous rows. Otherwise the
  /// pixels are in `scratch`. With `verify`, decodes and checks everything to the end of the data. May be called more
  /// than once.
  /// @throws Error(corrupt | unsupported | limit_exceeded), and Error(out_of_memory) like `Scratch::allocate`.
  virtual Pixels decode(const Box& box, bool verify, std::byte* into, Scratch& scratch) = 0;

  /// Returns a complete JPEG file of the whole image, which `encode_jpeg` may copy instead of making a JPEG of the
  /// pixels. The result is empty if there is no such file. `decode_jpeg` with default options decodes the file to the
  /// image's pixels, bit for bit. If the image has one channel, the file may also decode to three channels that each
  /// equal this channel.
  ///
  /// The file is in `scratch`, or in memory that stays valid as long as a `view` that a source gives. Only the file's
  /// header is sure to have been checked. `decode` with `verify` finds out whether the rest is damaged. `stored_jpeg`
  /// may be called more than once, before and after `decode`, and returns the same bytes each time.
  /// @throws Error like `decode`.
  virtual std::span<const std::byte> stored_jpeg(Scratch& /*scratch*/) { return {}; }

 protected:
  ~EncodedImage() = default;
};

/// An image that a source gives instead of pixels (`SampleBuilder::promise`). The image is decoded when a stage needs
/// its pixels. If a crop folds into the decoding, only the crop's box is decoded. If no stage needs the pixels, nothing
/// is decoded.
///
/// The object is copied to the memory of the sample being processed, and the copy is never destroyed. So the object
/// must hold only pointers and numbers. What the pointers refer to must stay valid until the next call of the reader's
/// `read`, like a `view` that the source gives. The blocks that were lent to the reader stay valid as long.
class PENSTOCK_API PromisedImage : public EncodedImage {
 public:
  /// Shape, [H, W, C], and dtype of the pixels that `decode` returns.
  virtual ImageShape shape() const = 0;

 protected:
  ~PromisedImage() = default;
};

}  // namespace penstock
