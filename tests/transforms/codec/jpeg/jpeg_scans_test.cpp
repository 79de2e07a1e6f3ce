// SPDX-License-Identifier: Apache-2.0
// Progressive images that lack scans: libjpeg guesses what they would have told from the coefficients around.
#include <penstock/transforms/decode_jpeg.hpp>

#include "support/catch.hpp"
#include "support/test_images.hpp"
#include "transforms/codec/jpeg/jpeg_files.hpp"
#include "transforms/codec/jpeg/plain_jpeg.hpp"

using namespace penstock;
using namespace penstock_test;

namespace {

// The first `scans` of a file, as a whole one.
Bytes first_scans(const Bytes& bytes, int scans) {
  int seen = 0;
  for (std::size_t i = 2; i + 1 < bytes.size(); ++i) {
    if (bytes[i] != std::byte{0xff}) continue;
    // A table or a scan after the last one that is wanted.
    const int code = std::to_integer<int>(bytes[i + 1]);
    if (seen == scans && (code == 0xc4 || code == 0xda)) {
      Bytes out(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(i));
      out.push_back(std::byte{0xff}), out.push_back(std::byte{0xd9});
      return out;
    }
    if (code == 0xda) ++seen;
  }
  return bytes;
}

}  // namespace

TEST_CASE("an image that lacks scans looks as libjpeg makes it, whole and in parts") {
  int smoothed = 0;
  for (const auto& luma : {std::array{1, 1}, {2, 2}}) {
    for (const int channels : {1, 3}) {
      const ImageShape shape{101, 118, channels};
      const Bytes all = plain_encode(photo(shape, 5, 20), {.luma = luma, .progressive = true});
      const JpegOptions options{.color = JpegOptions::as_stored};
      const Image best = decoded(all, options);
      for (int scans = 1; scans <= 10; ++scans) {
        const Bytes bytes = first_scans(all, scans);
        const Image whole = plain_decode(bytes, channels == 1);
        smoothed += !(whole == best);
        CAPTURE(luma, channels, scans);
        for (const bool verify : {false, true}) CHECK(decoded(bytes, options, verify) == whole);
        const auto decoding = jpeg_decoder(options)->start();
        Numbers numbers(3);
        for (int n = 0; n < 25; ++n) {
          const Box box = random_box(numbers, shape);
          CAPTURE(box.top, box.left, box.height, box.width);
          TestScratch scratch;
          decoding->open(bytes);
          REQUIRE(copied(decoding->decode(box, n % 4 == 0, nullptr, scratch)) == cut(whole, box));
        }
      }
    }
  }
  CHECK(smoothed > 20);
}
