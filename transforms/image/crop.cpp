#include <penstock/transforms/image/crop.hpp>

#include "describe.hpp"

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

RandomCrop::RandomCrop(Size size) : size_(image::checked_size("random_crop", size)) {}

RandomCrop::Params RandomCrop::draw(const ImageShape& shape, Rng& rng) const {
  check_fits("random_crop", shape, size_);
  const auto place = [&rng](std::int32_t room) {
    return static_cast<std::int32_t>(rng.below(static_cast<std::uint64_t>(room) + 1));
  };
  const std::int32_t top = place(shape.height - size_.height);
  return {top, place(shape.width - size_.width)};
}

void RandomCrop::compose(const Params& params, const ImageShape&, ImageOp& op) const {
  op.crop({params.top, params.left, size_.height, size_.width});
}

Shape RandomCrop::schema(const Shape& in) const { return cropped("random_crop", in, size_, size_); }

std::string RandomCrop::describe() const { return text(size_); }

Stage crop(ImageFields fields, const Box& box) { return image_stage(std::move(fields), Crop(box)); }
Stage center_crop(ImageFields fields, Size size) { return image_stage(std::move(fields), CenterCrop(size)); }
Stage random_crop(ImageFields fields, Size size) { return image_stage(std::move(fields), RandomCrop(size)); }

}  // namespace penstock
