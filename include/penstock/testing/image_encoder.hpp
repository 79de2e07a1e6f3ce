#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include <penstock/detail/export.hpp>
#include <penstock/extend/image_decoder.hpp>
#include <penstock/extend/image_encoder.hpp>
#include <penstock/extend/image_op.hpp>
#include <penstock/testing/report.hpp>

namespace penstock::testing {

/// Settings of `check_image_encoder`.
struct ImageEncoderOptions {
  /// Shapes of the images that it is tried on, whose pixels are generated; those that it does not take are left out.
  std::vector<ImageShape> images = {{1, 1, 3},
                                    {64, 48, 3},
                                    {71, 90, 1},
                                    {17, 23, 2},
                                    {33, 20, 4},
                                    {97, 31, 3},
                                    {1, 50, 1},
                                    {40, 1, 3},
                                    {26, 19, 3, DType::u16},
                                    {12, 30, 1, DType::u16}};
  /// The encoder's mirror, which gives images as they are stored, one for each dtype that the encoder takes; what is
  /// encoded is decoded by those that take it. Empty: nothing is decoded.
  std::vector<std::shared_ptr<const ImageDecoder>> decoders = {};
  /// Files of images that the encoder may take as they are (`take`), opened by the first of `decoders`; damaged ones
  /// are left out.
  std::vector<std::vector<std::byte>> files = {};
  unsigned threads = 4;  ///< threads that encode at once
};

/// Holds an encoder to what `ImageEncoder` promises: the same pixels make the same bytes, however their rows lie, on
/// any thread, and by an encoder made alike; they are decoded to an image of that size, and to the very pixels where it
/// is lossless; pixels are left alone, and nothing is written outside of memory that was given for it; an error of the
/// file that it writes comes through, and the next image is encoded as if nothing had been; and what `take` gives is
/// decoded to the image's pixels. `make` gives an encoder, an own one each time. Threads are started; nothing is
/// thrown, but for what `make` throws the first time.
PENSTOCK_API Report check_image_encoder(const std::function<std::shared_ptr<const ImageEncoder>()>& make,
                                        const ImageEncoderOptions& options = {});

}  // namespace penstock::testing
