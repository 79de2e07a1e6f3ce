// SPDX-License-Identifier: Apache-2.0
#include <penstock/transforms/image/letterbox.hpp>

#include <algorithm>
#include <utility>

#include "describe.hpp"

namespace penstock {

Letterbox::Letterbox(Size size, LetterboxOptions options)
    : size_(image::checked_size("letterbox", size)), options_(std::move(options)) {
  if (options_.fill.empty() || options_.fill.size() > 4)
    throw Error(Errc::invalid_argument, "letterbox: fill must be 1 to 4 values, one for all channels or one each");
  std::vector<int> values = options_.fill;
  values.push_back(options_.label);
  for (const int value : values)
    if (value < 0 || value > 65535)
      throw Error(Errc::invalid_argument, "letterbox: a fill of " + std::to_string(value) + " is no value of an image");
}

Letterbox::Params Letterbox::draw(const ImageShape&, Rng&) const { return {}; }

Box Letterbox::inner(Size picture) const noexcept {
  // a / b of the box's side, rounded to the nearest pixel.
  const auto part = [](std::int64_t side, std::int64_t a, std::int64_t b) {
    return static_cast<std::int32_t>(std::clamp<std::int64_t>((2 * side * a + b) / (2 * b), 1, INT32_MAX));
  };
  const bool wide =
      std::int64_t{picture.width} * size_.height >= std::int64_t{picture.height} * size_.width;  // than the box
  const std::int32_t height =
                         wide ? std::min(part(size_.width, picture.height, picture.width), size_.height) : size_.height,
                     width =
                         wide ? size_.width : std::min(part(size_.height, picture.width, picture.height), size_.width);
  return {(size_.height - height) / 2, (size_.width - width) / 2, height, width};
}

void Letterbox::compose(const Params&, const ImageShape& shape, ImageOp& op) const {
  const std::size_t colors = options_.fill.size();
  if (colors != 1 && colors != static_cast<std::size_t>(shape.channels) && !op.labels())
    throw Error(Errc::unsupported, "letterbox has " + std::to_string(colors) + " values to surround an image of " +
                                       std::to_string(shape.channels) + " channels with: one, or one each");
  const Box at = inner(shape.size());
  Padding padding{.top = at.top,
                  .left = at.left,
                  .bottom = size_.height - at.top - at.height,
                  .right = size_.width - at.left - at.width};
  for (std::size_t c = 0; c < padding.fill.size(); ++c)
    padding.fill[c] = static_cast<std::uint16_t>(options_.fill[std::min(c, colors - 1)]);
  padding.label = static_cast<std::uint16_t>(options_.label);
  op.resize(at.size());
  op.pad(padding);
}

Shape Letterbox::schema(const Shape& in) const { return {size_.height, size_.width, in[2]}; }

std::string Letterbox::describe() const {
  std::string text = image::text(size_) + ", fill";
  for (const int value : options_.fill) text += " " + std::to_string(value);
  return text + ", label " + std::to_string(options_.label);
}

Stage letterbox(ImageFields fields, Size size, LetterboxOptions options) {
  return image_stage(std::move(fields), Letterbox(size, std::move(options)));
}

}  // namespace penstock
