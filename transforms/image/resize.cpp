// SPDX-License-Identifier: Apache-2.0
#include <penstock/transforms/image/resize.hpp>

#include <algorithm>

#include "describe.hpp"

namespace penstock {

using image::text;

namespace {

constexpr std::int64_t longest_side = 65535;

std::int64_t other_side(std::int64_t longer, std::int64_t shorter, std::int64_t length) {
  return longer * length / shorter;
}

}  // namespace

Resize::Resize(Size size) : size_(image::checked_size("resize", size)) {}

Resize::Params Resize::draw(const ImageShape&, Rng&) const { return {}; }

void Resize::compose(const Params&, const ImageShape&, ImageOp& op) const { op.resize(size_); }

Shape Resize::schema(const Shape& in) const { return {size_.height, size_.width, in[2]}; }

std::string Resize::describe() const { return text(size_); }

ResizeShort::ResizeShort(std::int32_t length) : length_(length) {
  if (length < 1 || length > longest_side)
    throw Error(Errc::invalid_argument,
                "resize_short to " + std::to_string(length) + ": the length must be 1 to 65535 pixels");
}

ResizeShort::Params ResizeShort::draw(const ImageShape&, Rng&) const { return {}; }

void ResizeShort::compose(const Params&, const ImageShape& shape, ImageOp& op) const {
  const bool upright = shape.width <= shape.height;
  const std::int64_t longer =
      other_side(std::max(shape.height, shape.width), std::min(shape.height, shape.width), length_);
  if (longer > longest_side)
    throw Error(Errc::unsupported, "resize_short to " + std::to_string(length_) + " makes an image of " +
                                       text(shape.size()) + " longer than 65535 pixels");
  const auto other = static_cast<std::int32_t>(longer);
  op.resize(upright ? Size{other, length_} : Size{length_, other});
}

Shape ResizeShort::schema(const Shape& in) const {
  if (in[0] == dynamic || in[1] == dynamic) return {dynamic, dynamic, in[2]};
  if (in[1] <= in[0]) return {other_side(in[0], in[1], length_), length_, in[2]};
  return {length_, other_side(in[1], in[0], length_), in[2]};
}

std::string ResizeShort::describe() const { return std::to_string(length_); }

Stage resize(ImageFields fields, Size size) { return image_stage(std::move(fields), Resize(size)); }
Stage resize_short(ImageFields fields, std::int32_t length) {
  return image_stage(std::move(fields), ResizeShort(length));
}

}  // namespace penstock
