// SPDX-License-Identifier: Apache-2.0
#include "stored_jpeg_checks.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

#include "guarded_scratch.hpp"

namespace penstock::testing {

std::string text_of(const ImageShape& shape) {
  return std::to_string(shape.height) + " x " + std::to_string(shape.width) + " x " + std::to_string(shape.channels) +
         ", " + std::string(to_string(shape.element));
}

bool same_pixels(const Pixels& a, const Pixels& b) {
  const std::size_t value = size_of(a.shape.element);
  const bool gray = b.shape.channels == 1;
  if (!(a.shape.size() == b.shape.size()) || a.shape.element != b.shape.element ||
      (!gray && a.shape.channels != b.shape.channels))
    return false;
  const auto channels = static_cast<std::size_t>(a.shape.channels);
  const std::size_t values = static_cast<std::size_t>(a.shape.width) * channels;
  for (std::int32_t y = 0; y < a.shape.height; ++y)
    for (std::size_t i = 0; i < values; ++i)
      if (std::memcmp(a.data + y * a.stride + static_cast<std::ptrdiff_t>(i * value),
                      b.data + y * b.stride + static_cast<std::ptrdiff_t>((gray ? i / channels : i) * value),
                      value) != 0)
        return false;
  return true;
}

void check_stored_jpeg(EncodedImage& image, const Pixels& whole, const ImageDecoder* jpeg, Findings& findings,
                       const std::string& who) {
  GuardedScratch scratch, again;
  std::span<const std::byte> file, same;
  if (!findings.runs("an image that can be decoded has a stored JPEG, or none", who + ": stored_jpeg", [&] {
        file = image.stored_jpeg(scratch);
        same = image.stored_jpeg(again);
      }))
    return;
  findings.check(std::ranges::equal(file, same), "a stored JPEG is always the same", [&] {
    return who + ": once it has " + std::to_string(file.size()) + " bytes, then " + std::to_string(same.size()) +
           ", or they differ";
  });
  findings.check(scratch.intact() && again.intact(), "nothing is written outside of a value's memory",
                 [&] { return who + ": giving its stored JPEG"; });
  if (file.empty()) return;
  findings.check(file.size() > 4 && file[0] == std::byte{0xff} && file[1] == std::byte{0xd8}, "a stored JPEG is a JPEG",
                 [&] { return who + ": it does not begin with FF D8"; });
  if (jpeg == nullptr) return;
  constexpr std::string_view contract = "a stored JPEG is decoded to the image's pixels";
  findings.runs(contract, who + ": decoding it", [&] {
    const auto decoding = jpeg->start();
    GuardedScratch memory;
    const ImageShape shape = decoding->open(file);
    const Pixels pixels = decoding->decode({0, 0, shape.height, shape.width}, true, nullptr, memory);
    findings.check(same_pixels(pixels, whole), contract, [&] {
      return who + ": the image is " + text_of(whole.shape) + ", the stored JPEG " + text_of(shape) +
             ", and they differ";
    });
  });
}

}  // namespace penstock::testing
