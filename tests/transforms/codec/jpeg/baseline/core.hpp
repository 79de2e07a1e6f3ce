// SPDX-License-Identifier: Apache-2.0
// The baseline decoder alone, and files for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "codec/jpeg/baseline/decoder.hpp"
#include "support/campaign.hpp"
#include "support/test_images.hpp"
#include "transforms/codec/jpeg/plain_jpeg.hpp"

namespace penstock_test {

// What becomes of a file: its pixels, or why it is left to libjpeg, or nothing where the header is refused already.
struct Outcome {
  std::optional<Image> pixels;
  std::optional<penstock::jpeg::baseline::HandOverReason> reason;
};

class Core {
 public:
  // `box` is in pixels of the image at 1 / `denominator` of its size.
  Outcome decode(std::span<const std::byte> bytes, const penstock::Box& box, bool to_end = false, bool gray = false,
                 int denominator = 1);
  // Decodes the whole image, to its end.
  Outcome decode(std::span<const std::byte> bytes);

 private:
  penstock::jpeg::baseline::Decoder decoder_;
};

// A file that is decoded without libjpeg: any layout, size, quality, restart interval, tables and content. Sides are up
// to `longest`.
struct RandomJpeg {
  Bytes bytes;
  penstock::ImageShape shape;
  std::string text;  // what it is
};
RandomJpeg random_jpeg(Numbers& numbers, std::int32_t longest);

// The image at 1 / `denominator` of its size.
penstock::ImageShape shape_at(penstock::ImageShape shape, int denominator);

// A part of it, or all.
penstock::Box random_box(Numbers& numbers, penstock::ImageShape shape);

}  // namespace penstock_test
