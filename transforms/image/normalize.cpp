#include <penstock/transforms/image/normalize.hpp>

#include "describe.hpp"

namespace penstock {

using image::text;

namespace {

// `white`: the largest value.
ConvertOptions as_convert(const NormalizeOptions& options, double white) {
  if (options.dtype != DType::f32 && options.dtype != DType::f16)
    throw Error(Errc::invalid_argument,
                "normalize to " + std::string(to_string(options.dtype)) + ": f32 and f16 are possible");
  const std::size_t means = options.mean.size(), stds = options.std.size();
  if (means < 1 || means > 4 || stds < 1 || stds > 4 || (means != stds && means != 1 && stds != 1))
    throw Error(Errc::invalid_argument,
                "normalize: mean and std must be 1 to 4 values, one for all channels or one each");
  ConvertOptions convert{options.dtype, options.layout, {}, {}};
  for (const double std : options.std) {
    if (!(std > 0)) throw Error(Errc::invalid_argument, "normalize: std " + text(std) + " is not above 0");
    convert.scale.push_back(1 / (white * std));
  }
  for (std::size_t c = 0; c < (means > stds ? means : stds); ++c)
    convert.bias.push_back(-options.mean[means == 1 ? 0 : c] / options.std[stds == 1 ? 0 : c]);
  return convert;
}

}  // namespace

Normalize::Normalize(NormalizeOptions options)
    : options_(std::move(options)), convert_(as_convert(options_, 255)), wide_(as_convert(options_, 65535)) {}

Normalize::Params Normalize::draw(const ImageShape&, Rng&) const { return {}; }

void Normalize::compose(const Params&, const ImageShape& shape, ImageOp& op) const {
  (shape.element == DType::u16 ? wide_ : convert_).compose({}, shape, op);
}

Shape Normalize::schema(const Shape& in, DType& dtype) const { return convert_.schema(in, dtype); }

std::string Normalize::describe() const {
  return std::string(to_string(options_.dtype)) + (options_.layout == Layout::chw ? " chw" : " hwc") + ", mean " +
         text(options_.mean) + ", std " + text(options_.std);
}

Stage normalize(std::string field, NormalizeOptions options) {
  return image_stage(std::move(field), Normalize(std::move(options)));
}

}  // namespace penstock
