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
  /// Decodes at least `box` of the image and returns exactly its pixels, bit for bit those of a full decode. They lie
  /// in `scratch`, or at `into` where that is not null and `box` is the whole image (then rows are contiguous). With
  /// `verify`, everything to the end of the data is decoded and checked. May be called more than once.
  /// @throws Error(corrupt | unsupported | limit_exceeded), and Error(out_of_memory) as `Scratch::allocate`.
  virtual Pixels decode(const Box& box, bool verify, std::byte* into, Scratch& scratch) = 0;

  /// What `encode_jpeg` may copy in place of making a JPEG of the pixels: a complete JPEG file of the whole image.
  /// `decode_jpeg` with default options makes the image's pixels of it, bit for bit, or, where the image has one
  /// channel, three channels that are each equal to it. Empty: there is none.
  ///
  /// It lies in the scratch, or in memory that stays as long as what a `view` of a source gives. The header has been
  /// looked at, more of it need not have been: `decode` with `verify` tells whether it is damaged. May be called more
  /// than once, before and after `decode`, and gives the same bytes each time.
  /// @throws Error as `decode`.
  virtual std::span<const std::byte> stored_jpeg(Scratch& /*scratch*/) { return {}; }

 protected:
  ~EncodedImage() = default;
};

/// An image that a source gives instead of pixels (`SampleBuilder::promise`). It is decoded when a stage wants its
/// pixels: a crop that folds into it has only its box decoded, and where nobody asks, nothing is.
///
/// It is copied to where the sample in work is, and is never destroyed: it holds pointers and numbers alone. What these
/// refer to stays as long as a `view` that the source gives: until the reader is asked for its next record, lent blocks
/// included.
class PENSTOCK_API PromisedImage : public EncodedImage {
 public:
  /// Its shape, [H, W, C], and dtype: those of the pixels that `decode` gives.
  virtual ImageShape shape() const = 0;

 protected:
  ~PromisedImage() = default;
};

}  // namespace penstock
