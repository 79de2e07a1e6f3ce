// SPDX-License-Identifier: Apache-2.0
#include "transforms/codec/jpeg/baseline/core.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "codec/jpeg/reader.hpp"

using namespace penstock;

namespace penstock_test {

Outcome Core::decode(std::span<const std::byte> bytes, const Box& box, bool to_end, bool gray, int denominator) {
  JpegOptions options;
  if (gray) options.color = JpegOptions::gray;
  std::optional<jpeg::Reader> reader;
  try {
    reader.emplace(bytes, options);
  } catch (const Error&) {
    return {};
  }
  if (!reader->in_file()) return {};
  reader->reduce(denominator);
  const std::int32_t channels = reader->info().out_color_space == JCS_GRAYSCALE ? 1 : 3;
  if (const auto reason = decoder_.begin(reader->info())) return {std::nullopt, reason};
  Image image({box.height, box.width, channels});
  TestScratch scratch;
  const std::span<const std::uint8_t> data(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  // With room on each side of a row that must stay as it is.
  constexpr std::ptrdiff_t room = 5;
  const std::ptrdiff_t wide = std::ptrdiff_t{box.width} * channels, stride = wide + 2 * room;
  std::vector<std::uint8_t> pixels(static_cast<std::size_t>(stride * box.height), 0xa5);
  const auto reason = decoder_.decode(data, static_cast<std::size_t>(reader->offset()),
                                      {box, to_end, nullptr, pixels.data() + room, stride}, scratch);
  for (std::int32_t y = 0; y < box.height; ++y) {
    const auto row = pixels.begin() + y * stride;
    const auto untouched = [](std::uint8_t value) { return value == 0xa5; };
    if (!std::all_of(row, row + room, untouched) || !std::all_of(row + room + wide, row + stride, untouched))
      throw std::logic_error("bytes beside the box were written");
    std::copy_n(row + room, wide, image.pixels.begin() + y * wide);
  }
  if (reason) return {std::nullopt, reason};
  return {std::move(image), std::nullopt};
}

Outcome Core::decode(std::span<const std::byte> bytes) {
  std::optional<jpeg::Reader> reader;
  try {
    reader.emplace(bytes, JpegOptions{});
  } catch (const Error&) {
    return {};
  }
  const ImageShape shape = reader->shape();
  return decode(bytes, {0, 0, shape.height, shape.width}, true);
}

namespace {

Image random_image(Numbers& numbers, ImageShape shape) {
  switch (numbers.below(6)) {
    case 0:
      return static_noise(shape, numbers.next());
    case 1: {  // flat
      Image image(shape);
      std::fill(image.pixels.begin(), image.pixels.end(), static_cast<std::uint8_t>(numbers.below(256)));
      return image;
    }
    case 2: {  // black and white
      Image image(shape);
      const std::int32_t wide = numbers.from(1, 9), high = numbers.from(1, 9);
      for (std::int32_t y = 0; y < shape.height; ++y)
        for (std::int32_t x = 0; x < shape.width; ++x)
          for (std::int32_t c = 0; c < shape.channels; ++c)
            image.at(y, x, c) = (x / wide + y / high + c) % 2 == 0 ? 0 : 255;
      return image;
    }
    default:
      return photo(shape, numbers.next(), numbers.coin() ? 8 : numbers.below(120));
  }
}

// Factors of chroma above 1, as some scanners write them, for one or two pixels a value.
void set_chroma(Numbers& numbers, PlainJpeg& options) {
  struct Layout {
    std::array<int, 2> luma, chroma;
  };
  static constexpr Layout layouts[] = {{{2, 2}, {2, 1}}, {{2, 2}, {1, 2}}, {{2, 1}, {2, 1}},
                                       {{1, 2}, {1, 2}}, {{4, 1}, {2, 1}}, {{3, 1}, {3, 1}}};
  const Layout& layout = layouts[numbers.below(std::size(layouts))];
  options.luma = layout.luma;
  options.chroma = layout.chroma;
}

}  // namespace

RandomJpeg random_jpeg(Numbers& numbers, std::int32_t longest) {
  RandomJpeg made;
  const auto side = [&] { return numbers.coin() ? numbers.from(1, longest) : numbers.from(1, std::min(longest, 40)); };
  made.shape = {side(), side(), numbers.below(5) == 0 ? 1 : 3};
  PlainJpeg options;
  options.quality = numbers.from(5, 100);
  options.luma = {numbers.from(1, 2), numbers.from(1, 2)};
  if (made.shape.channels == 3 && numbers.below(3) == 0) set_chroma(numbers, options);
  options.tables_of_each = made.shape.channels == 3 && numbers.below(4) == 0;
  // Factors of a single component, up to 4 x 4, count for nothing.
  if (made.shape.channels == 1 && numbers.coin()) options.luma = {numbers.from(1, 4), numbers.from(1, 4)};
  options.optimized = numbers.below(3) == 0;
  if (numbers.below(3) == 0) options.restart_interval = numbers.from(1, 100);
  if (made.shape.channels == 3 && numbers.below(8) == 0) {
    options.colors = PlainJpeg::rgb;
    options.chroma = options.luma = {numbers.from(1, 2), 1};
    options.jfif = false;
    options.adobe = true;
  }
  made.bytes = plain_encode(random_image(numbers, made.shape), options);
  const auto factors = [](const std::array<int, 2>& of) { return std::to_string(of[0]) + "x" + std::to_string(of[1]); };
  made.text = std::to_string(made.shape.width) + "x" + std::to_string(made.shape.height) + "x" +
              std::to_string(made.shape.channels) + ", quality " + std::to_string(options.quality) + ", luma " +
              factors(options.luma) + ", chroma " + factors(options.chroma) +
              (options.tables_of_each ? ", tables of each" : "") + ", restarts " +
              std::to_string(options.restart_interval) + (options.optimized ? ", own tables" : "") +
              (options.colors == PlainJpeg::rgb ? ", RGB" : "");
  return made;
}

ImageShape shape_at(ImageShape shape, int denominator) {
  shape.height = (shape.height + denominator - 1) / denominator;
  shape.width = (shape.width + denominator - 1) / denominator;
  return shape;
}

Box random_box(Numbers& numbers, ImageShape shape) {
  if (numbers.below(8) == 0) return {0, 0, shape.height, shape.width};
  Box box;
  box.height = numbers.from(1, shape.height);
  box.width = numbers.from(1, shape.width);
  box.top = numbers.from(0, shape.height - box.height);
  box.left = numbers.from(0, shape.width - box.width);
  return box;
}

}  // namespace penstock_test
