// SPDX-License-Identifier: Apache-2.0
#include <penstock/transforms/image/crop.hpp>

#include <algorithm>
#include <limits>
#include <utility>

#include "describe.hpp"
#include "surround.hpp"

namespace penstock {

using image::text;

namespace {

void check_fits(const char* stage, const ImageShape& shape, Size needed) {
  if (shape.height < needed.height || shape.width < needed.width)
    throw Error(Errc::unsupported, std::string(stage) + " needs at least " + text(needed) + " pixels, the image has " +
                                       text(shape.size()) + "; put a resize before it");
}

Shape cropped(const char* stage, const Shape& in, Size needed, Size size) {
  if ((in[0] != dynamic && in[0] < needed.height) || (in[1] != dynamic && in[1] < needed.width))
    throw Error(Errc::schema_mismatch,
                std::string(stage) + " needs at least " + text(needed) + " pixels, images are " + in.to_string());
  return {size.height, size.width, in[2]};
}

}  // namespace

Crop::Crop(const Box& box) : box_(box) {
  image::checked_size("crop", box.size());
  if (box.top < 0 || box.left < 0 || box.top > INT32_MAX - box.height || box.left > INT32_MAX - box.width)
    throw Error(Errc::invalid_argument, "crop " + describe() + " does not start inside an image");
}

Crop::Params Crop::draw(const ImageShape&, Rng&) const { return {}; }

void Crop::compose(const Params&, const ImageShape& shape, ImageOp& op) const {
  check_fits("crop", shape, {box_.top + box_.height, box_.left + box_.width});
  op.crop(box_);
}

Shape Crop::schema(const Shape& in) const {
  return cropped("crop", in, {box_.top + box_.height, box_.left + box_.width}, box_.size());
}

std::string Crop::describe() const {
  return text(box_.size()) + "+" + std::to_string(box_.top) + "+" + std::to_string(box_.left);
}

CenterCrop::CenterCrop(Size size) : size_(image::checked_size("center_crop", size)) {}

CenterCrop::Params CenterCrop::draw(const ImageShape&, Rng&) const { return {}; }

void CenterCrop::compose(const Params&, const ImageShape& shape, ImageOp& op) const {
  check_fits("center_crop", shape, size_);
  op.crop({(shape.height - size_.height) / 2, (shape.width - size_.width) / 2, size_.height, size_.width});
}

Shape CenterCrop::schema(const Shape& in) const { return cropped("center_crop", in, size_, size_); }

std::string CenterCrop::describe() const { return text(size_); }

RandomCrop::RandomCrop(Size size, RandomCropOptions options)
    : size_(image::checked_size("random_crop", size)), options_(std::move(options)) {
  const bool reflects = options_.mode == Padding::Mode::reflect;
  const std::int32_t shorter = std::min(size.height, size.width);
  if (options_.padding < 0 || options_.padding >= (reflects ? (shorter + 1) / 2 : shorter))
    throw Error(Errc::invalid_argument, "random_crop: padding " + std::to_string(options_.padding) +
                                            " is not 0 to less than " + (reflects ? "half of " : "") +
                                            "a side of the box of " + text(size));
  image::check_surround("random_crop", options_.fill, options_.label);
}

std::int32_t RandomCrop::padded(std::int32_t side) const {
  constexpr std::int32_t most = std::numeric_limits<std::int32_t>::max();
  return side > most - 2 * options_.padding ? most : side + 2 * options_.padding;
}

RandomCrop::Params RandomCrop::draw(const ImageShape& shape, Rng& rng) const {
  const Size room{padded(shape.height), padded(shape.width)};
  check_fits("random_crop", {room.height, room.width, shape.channels}, size_);
  const auto place = [&rng](std::int32_t most) {
    return static_cast<std::int32_t>(rng.below(static_cast<std::uint64_t>(most) + 1));
  };
  const std::int32_t top = place(room.height - size_.height);
  return {top, place(room.width - size_.width)};
}

void RandomCrop::compose(const Params& params, const ImageShape& shape, ImageOp& op) const {
  if (options_.padding > 0) {
    const std::int32_t p = options_.padding;
    image::surround(op, {.top = p, .left = p, .bottom = p, .right = p, .mode = options_.mode}, "random_crop",
                    options_.fill, options_.label, shape.channels);
  }
  op.crop({params.top, params.left, size_.height, size_.width});
}

Shape RandomCrop::schema(const Shape& in) const {
  Shape room = in;
  for (const std::size_t side : {0u, 1u})
    if (in[side] != dynamic) room[side] += 2 * std::int64_t{options_.padding};
  return cropped("random_crop", room, size_, size_);
}

std::string RandomCrop::describe() const {
  std::string all = text(size_);
  if (options_.padding == 0) return all;
  all += ", padding " + std::to_string(options_.padding);
  if (options_.mode == Padding::Mode::reflect) return all + " reflect";
  all += " with";
  for (const int value : options_.fill) all += " " + std::to_string(value);
  return all + ", labels " + std::to_string(options_.label);
}

Stage crop(ImageFields fields, const Box& box) { return image_stage(std::move(fields), Crop(box)); }
Stage center_crop(ImageFields fields, Size size) { return image_stage(std::move(fields), CenterCrop(size)); }
Stage random_crop(ImageFields fields, Size size, RandomCropOptions options) {
  return image_stage(std::move(fields), RandomCrop(size, std::move(options)));
}

}  // namespace penstock
