// SPDX-License-Identifier: Apache-2.0
#include "transforms/codec/png/whole/rule.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include <penstock/error.hpp>

#include "codec/png/by_libpng.hpp"
#include "codec/png/whole_image.hpp"
#include "support/test_images.hpp"

namespace penstock_test {

using namespace penstock;

PngOutcome check_png_rule(std::span<const std::byte> file, const PngOptions& options, Box box, bool verify,
                          std::string& what) {
  std::optional<png::Layout> layout;
  try {
    layout.emplace(png::check_chunks(file), options);
  } catch (const Error&) {
    return PngOutcome::refused;
  }
  const ImageShape shape = layout->shape();
  box.top = std::min(box.top, shape.height - 1), box.left = std::min(box.left, shape.width - 1);
  box.height = std::min(box.height, shape.height - box.top), box.width = std::min(box.width, shape.width - box.left);
  const std::size_t bytes =
      static_cast<std::size_t>(box.height) * static_cast<std::size_t>(box.width) * shape.pixel_bytes();
  // A little more, which must stay as it is.
  constexpr std::size_t guard = 64;
  std::vector<std::uint8_t> at_once(bytes + guard, 0xa5), by_libpng(bytes + guard, 0xa5);
  TestScratch scratch;
  png::WholeImage image;
  if (!image.decode(file, *layout, box, verify, at_once.data(), scratch)) return PngOutcome::handed_over;
  try {
    png::decode_by_libpng(file, *layout, box, verify, by_libpng.data(), scratch);
  } catch (const Error& error) {
    what = error.what();
    return PngOutcome::broken;
  }
  const auto differs = std::ranges::mismatch(at_once, by_libpng);
  what = "other pixels from byte " + std::to_string(differs.in1 - at_once.begin()) + " on, of " +
         std::to_string(bytes) + ", colour type " + std::to_string(layout->header().color) + ", depth " +
         std::to_string(layout->header().depth) + (layout->header().interlaced ? ", interlaced" : "");
  if (differs.in1 != at_once.end())
    what += ": " + std::to_string(*differs.in1) + ", by libpng " + std::to_string(*differs.in2);
  return at_once == by_libpng ? PngOutcome::same : PngOutcome::broken;
}

}  // namespace penstock_test
