// SPDX-License-Identifier: Apache-2.0
// decode_image in a build that has only the components which it needs.
#include <string>

#include <penstock/transforms/decode_image.hpp>

#include "support/catch.hpp"
#include "support/thrown.hpp"
#include "transforms/codec/png/png_files.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace penstock;
using namespace penstock_test;

TEST_CASE("formats whose component is not built are refused by name") {
  using namespace std::string_view_literals;
  const auto decoding = any_image_decoder()->start();
  for (const auto& [data, format, option] :
       {std::tuple{"RIFF\x1e\0\0\0WEBPVP8L"sv, "WebP", "-DPENSTOCK_WEBP=ON"},
        std::tuple{"II*\0"sv, "TIFF", "-DPENSTOCK_TIFF=ON"}, std::tuple{"MM\0+"sv, "TIFF", "-DPENSTOCK_TIFF=ON"}}) {
    const Error error = error_of([&] { decoding->open(std::as_bytes(std::span(data))); });
    CHECK(error.code() == Errc::unsupported);
    CHECK(error.offset() == 0u);
    CHECK(mentions(error, std::string("the data is a ") + format +
                              ", and this penstock was built without the component that decodes it: build it with " +
                              option));
  }
  CHECK(decoding->open(PngFile({2, 8}, {5, 6}, 1).bytes()) == ImageShape{5, 6, 3});
}

}  // namespace PENSTOCK_TEST_FILE
