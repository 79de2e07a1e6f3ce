// SPDX-License-Identifier: Apache-2.0
// Random images of every kind, encoded, and decoded at once and by libpng.
#include <algorithm>
#include <string>
#include <vector>

#include <penstock/transforms/encode_png.hpp>

#include "support/campaign.hpp"
#include "support/catch.hpp"
#include "support/test_images.hpp"
#include "transforms/codec/png/png_files.hpp"
#include "transforms/codec/png/whole/rule.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace penstock;
using namespace penstock_test;

namespace {

// Noise, a photograph, a few values, or repeated bytes.
Image random_image(Numbers& numbers, std::uint64_t seed) {
  const DType element = numbers.coin() ? DType::u8 : DType::u16;
  ImageShape shape{numbers.from(1, 60), numbers.from(1, 60), numbers.from(1, 4), element};
  if (numbers.below(8) == 0) shape.height = numbers.from(1, 600);
  if (numbers.below(8) == 0) shape.width = numbers.from(1, 600);
  Image image = numbers.coin() ? static_noise(shape, seed) : photo(shape, seed, numbers.from(0, 20));
  if (numbers.coin())
    for (std::uint8_t& byte : image.pixels) byte = static_cast<std::uint8_t>(byte % numbers.from(1, 3));
  if (numbers.below(4) == 0)
    for (std::size_t i = 300; i < image.pixels.size(); ++i) image.pixels[i] = image.pixels[i % 300];
  return image;
}

}  // namespace

TEST_CASE("random images give their pixels back, decoded at once and by libpng") {
  Numbers numbers(numbered_seed(21));
  const std::shared_ptr<const ImageEncoder> encoders[] = {png_encoder({EncodePngOptions::fast}), png_encoder(),
                                                          png_encoder({EncodePngOptions::small})};
  for (std::uint64_t i = 0; i < runs(600); ++i) {
    const Image around = random_image(numbers, i);
    Box box{0, 0, numbers.from(1, around.shape.height), numbers.from(1, around.shape.width)};
    box.top = numbers.from(0, around.shape.height - box.height);
    box.left = numbers.from(0, around.shape.width - box.width);
    // libdeflate's longest searches are slow.
    const int effort = std::min(2, numbers.below(20) / 9);
    CAPTURE(i, effort, box.height, box.width, around.shape.channels, around.shape.element == DType::u16);
    // The memory of its pixels ends with the image.
    const Image image = cut(around, box);
    const Bytes file = encoded_bytes(*encoders[effort], image.view());
    REQUIRE(encoded_bytes(*encoders[effort], around.view(box)) == file);
    const PngOptions options{.color = PngOptions::as_stored, .dtype = image.shape.element};
    const Box all{0, 0, box.height, box.width};
    std::string what;
    const PngOutcome outcome = check_png_rule(file, options, all, true, what);
    CAPTURE(what);
    REQUIRE(outcome == PngOutcome::same);
    const auto decoding = png_decoder(options)->start();
    REQUIRE(decoding->open(file) == image.shape);
    TestScratch scratch;
    REQUIRE(copied(decoding->decode(all, true, nullptr, scratch)) == image);
  }
}

}  // namespace PENSTOCK_TEST_FILE
