// SPDX-License-Identifier: Apache-2.0
#include <penstock/transforms/image/random_resized_crop.hpp>

#include <algorithm>
#include <cmath>

#include "describe.hpp"
#include "exact_math.hpp"

namespace penstock {

using image::text;

namespace {

std::int32_t rounded(double value) { return static_cast<std::int32_t>(std::min(value, 2147483000.0) + 0.5); }

}  // namespace

RandomResizedCrop::RandomResizedCrop(Size size, const RandomResizedCropOptions& options)
    : size_(image::checked_size("random_resized_crop", size)), options_(options) {
  const auto& [least, most] = options.scale;
  if (!(least > 0) || !(least <= most) || !(most <= 1))
    throw Error(Errc::invalid_argument, "random_resized_crop: scale " + text(least) + ".." + text(most) +
                                            " must rise, from above 0 to at most 1");
  const auto& [narrow, wide] = options.ratio;
  if (!(narrow >= 1e-3) || !(narrow <= wide) || !(wide <= 1e3))
    throw Error(Errc::invalid_argument, "random_resized_crop: ratio " + text(narrow) + ".." + text(wide) +
                                            " must rise, from at least 0.001 to at most 1000");
  log_ratio_ = {image::exact_log(narrow), image::exact_log(wide)};
}

RandomResizedCrop::Params RandomResizedCrop::draw(const ImageShape& shape, Rng& rng) const {
  const double height = shape.height, width = shape.width;
  const auto place = [&rng](std::int32_t room) {
    return static_cast<std::int32_t>(rng.below(static_cast<std::uint64_t>(room) + 1));
  };
  for (int attempt = 0; attempt < 10; ++attempt) {
    const double area = height * width * rng.uniform(options_.scale[0], options_.scale[1]);
    const double ratio = image::exact_exp(rng.uniform(log_ratio_[0], log_ratio_[1]));
    const std::int32_t w = rounded(std::sqrt(area * ratio)), h = rounded(std::sqrt(area / ratio));
    if (w < 1 || h < 1 || w > shape.width || h > shape.height) continue;
    const std::int32_t top = place(shape.height - h);
    return {{top, place(shape.width - w), h, w}};
  }
  std::int32_t h = shape.height, w = shape.width;
  if (width / height < options_.ratio[0]) h = std::clamp(rounded(width / options_.ratio[0]), 1, h);
  if (width / height > options_.ratio[1]) w = std::clamp(rounded(height * options_.ratio[1]), 1, w);
  return {{(shape.height - h) / 2, (shape.width - w) / 2, h, w}};
}

void RandomResizedCrop::compose(const Params& params, const ImageShape&, ImageOp& op) const {
  op.crop(params.box);
  op.resize(size_);
}

Shape RandomResizedCrop::schema(const Shape& in) const { return {size_.height, size_.width, in[2]}; }

std::string RandomResizedCrop::describe() const {
  return text(size_) + ", scale " + text(options_.scale[0]) + ".." + text(options_.scale[1]) + ", ratio " +
         text(options_.ratio[0]) + ".." + text(options_.ratio[1]);
}

Stage random_resized_crop(ImageFields fields, Size size, const RandomResizedCropOptions& options) {
  return image_stage(std::move(fields), RandomResizedCrop(size, options));
}

}  // namespace penstock
