// SPDX-License-Identifier: Apache-2.0
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
  /// Shapes of the images that the encoder is tried on, with generated pixels. Images that the encoder does not take
  /// are skipped.
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
  /// Decoders for the encoder's files, which return images as they are stored. A file is decoded by the first of them
  /// that returns the dtype and number of channels of the encoded image. Files of other images are not decoded. Default
  /// (empty): nothing is decoded.
  std::vector<std::shared_ptr<const ImageDecoder>> decoders = {};
  /// Files that the encoder may keep unchanged (`take`). The first of `decoders` opens them. Files that it can't decode
  /// are skipped.
  std::vector<std::vector<std::byte>> files = {};
  unsigned threads = 4;  ///< threads that encode at the same time
};

/// Checks that an encoder keeps the promises of `ImageEncoder`:
///
/// - the same pixels make the same bytes, whatever their stride, on any thread, and with a second encoder from `make`;
/// - the bytes decode to an image of the same size, and to exactly the same pixels if the encoder is lossless;
/// - the encoder does not change pixels, and writes only to the memory that it was given;
/// - `encode` passes on an error of its EncodedFile, and the next image is encoded as usual;
/// - the result of `take` decodes to the image's pixels.
///
/// `make` returns a separate encoder each time. Starts threads. Throws only what the first call of `make` throws.
PENSTOCK_API Report check_image_encoder(const std::function<std::shared_ptr<const ImageEncoder>()>& make,
                                        const ImageEncoderOptions& options = {});

}  // namespace penstock::testing
