// SPDX-License-Identifier: Apache-2.0
#include "promise_checks.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include <penstock/error.hpp>

#include "guarded_memory.hpp"
#include "guarded_scratch.hpp"
#include "stored_jpeg_checks.hpp"

namespace penstock::testing {

namespace {

std::string text(const Box& box) {
  return std::to_string(box.height) + "x" + std::to_string(box.width) + " at (" + std::to_string(box.top) + ", " +
         std::to_string(box.left) + ")";
}

// Returns the box of the whole image, and boxes of its parts. Some parts have a single pixel, row or column.
std::vector<Box> boxes_of(const ImageShape& shape) {
  const std::int32_t h = shape.height, w = shape.width;
  const std::int32_t third = std::max(h / 3, 1), quarter = std::max(w / 4, 1);
  return {{0, 0, h, w},         {0, 0, 1, 1},           {h - 1, w - 1, 1, 1},
          {h / 2, w / 3, 1, 1}, {0, 0, third, quarter}, {h - third, w - quarter, third, quarter},
          {h / 2, 0, 1, w},     {0, w / 2, h, 1},       {(h - third) / 2, (w - quarter) / 2, third, quarter}};
}

}  // namespace

void check_promise(PromisedImage& image, const ImageDecoder* jpeg, Findings& findings, const std::string& who) {
  const ImageShape shape = image.shape();
  const bool usable = findings.check(shape.height >= 1 && shape.width >= 1 && shape.channels >= 1,
                                     "a promised image has no empty side", [&] { return who; });
  if (!usable) throw Error(Errc::schema_mismatch, "a promised image has an empty side");
  const std::size_t pixel = shape.pixel_bytes(), row = static_cast<std::size_t>(shape.width) * pixel;
  GuardedMemory all(row * static_cast<std::size_t>(shape.height), std::byte{0xa5});
  const auto fits = [&](const Pixels& pixels, const Box& box) {
    return findings.check(
        pixels.data != nullptr && pixels.shape == ImageShape{box.height, box.width, shape.channels, shape.element},
        "a promised image is decoded to the box that was asked for", [&] { return who + ": asked for " + text(box); });
  };
  const auto differs = [&](const Pixels& pixels, const Box& box) {
    for (std::int32_t y = 0; y < box.height; ++y) {
      const std::byte* const whole =
          all.data() + static_cast<std::size_t>(box.top + y) * row + static_cast<std::size_t>(box.left) * pixel;
      if (std::memcmp(whole, pixels.data + y * pixels.stride, static_cast<std::size_t>(box.width) * pixel) != 0)
        return true;
    }
    return false;
  };
  {
    GuardedScratch scratch;
    const Box whole{0, 0, shape.height, shape.width};
    const Pixels pixels = image.decode(whole, false, all.data(), scratch);
    if (!fits(pixels, whole)) return;
    if (reinterpret_cast<const std::byte*>(pixels.data) != all.data())
      for (std::int32_t y = 0; y < shape.height; ++y)
        std::memcpy(all.data() + static_cast<std::size_t>(y) * row, pixels.data + y * pixels.stride, row);
    findings.check(all.intact() && scratch.intact(), "nothing is written outside of a value's memory",
                   [&] { return who + ": decoding a promised image"; });
  }
  const Pixels pixels_of_all{reinterpret_cast<const std::uint8_t*>(all.data()), static_cast<std::ptrdiff_t>(row),
                             shape};
  check_stored_jpeg(image, pixels_of_all, jpeg, findings, who);
  for (const Box& box : boxes_of(shape)) {
    for (const bool verify : {false, true}) {
      GuardedScratch scratch;
      Pixels pixels;
      // The whole image could be decoded, so each part must be decodable.
      const bool decoded =
          findings.runs("what can be decoded whole can be decoded in parts", who + ": the box " + text(box),
                        [&] { pixels = image.decode(box, verify, nullptr, scratch); });
      if (!decoded || !fits(pixels, box)) return;
      findings.check(!differs(pixels, box), "a box of a promised image is a crop of the whole",
                     [&] { return who + ": the box " + text(box) + (verify ? ", verified" : ""); });
      findings.check(scratch.intact(), "nothing is written outside of a value's memory",
                     [&] { return who + ": decoding the box " + text(box); });
    }
  }
  findings.check(image.shape() == shape, "a promised image's shape is always the same", [&] { return who; });
}

}  // namespace penstock::testing
