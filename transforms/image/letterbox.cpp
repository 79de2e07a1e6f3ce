// SPDX-License-Identifier: Apache-2.0
#include <penstock/transforms/image/letterbox.hpp>

#include <algorithm>
#include <utility>

#include "describe.hpp"
#include "surround.hpp"

namespace penstock {

Letterbox::Letterbox(Size size, LetterboxOptions options)
    : size_(image::checked_size("letterbox", size)), options_(std::move(options)) {
  image::check_surround("letterbox", options_.fill, options_.label);
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
  const Box at = inner(shape.size());
  op.resize(at.size());
  image::surround(op,
                  {.top = at.top,
                   .left = at.left,
                   .bottom = size_.height - at.top - at.height,
                   .right = size_.width - at.left - at.width},
                  "letterbox", options_.fill, options_.label, shape.channels);
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
