// SPDX-License-Identifier: Apache-2.0
#include <penstock/transforms/image/normalize.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "describe.hpp"
#include "one_or_each.hpp"

namespace penstock {

using image::counted;
using image::text;

namespace {

// Refuses a mean that is not of pixel values of 0 to 1. Some libraries take means of pixel values of 0 to 255, which
// would make all pixels almost equal here.
void check_mean(double mean) {
  if (mean >= 0 && mean <= 1) return;
  std::string cause =
      "normalize: mean " + text(mean) +
      " is not of values 0 to 1, which pixels of 8 and of 16 bits are taken as: mean and std are of such "
      "values";
  constexpr double whites[] = {255, 65535};
  for (const double white : whites) {
    if (!(mean > 1 && mean <= white)) continue;
    std::array<char, 32> divided{};
    std::snprintf(divided.data(), divided.size(), "%.4g", mean / white);
    cause += "; of values 0 to " + text(white) + ", divide both by " + text(white) + ": mean " + divided.data();
    break;
  }
  throw Error(Errc::invalid_argument, cause + "; any other scale is convert's, with `.scale` and `.bias`");
}

// `white` is the largest value that a pixel can have.
ConvertOptions as_convert(const NormalizeOptions& options, double white) {
  if (options.dtype != DType::f32 && options.dtype != DType::f16 && options.dtype != DType::bf16)
    throw Error(Errc::invalid_argument,
                "normalize to " + std::string(to_string(options.dtype)) + ": f32, f16 and bf16 are possible");
  const std::size_t means = options.mean.size(), stds = options.std.size();
  if (means < 1 || means > 4 || stds < 1 || stds > 4 || (means != stds && means != 1 && stds != 1))
    throw Error(Errc::invalid_argument,
                "normalize: mean and std must be 1 to 4 values, one for all channels or one each");
  ConvertOptions convert{options.dtype, options.layout, {}, {}};
  const auto finite = [](const char* what, double value, double becomes) {
    if (!std::isfinite(static_cast<float>(becomes)))
      throw Error(Errc::invalid_argument,
                  "normalize: " + std::string(what) + " " + text(value) + " makes values that are no finite f32");
    return becomes;
  };
  for (const double std : options.std) {
    if (!(std > 0)) throw Error(Errc::invalid_argument, "normalize: std " + text(std) + " is not above 0");
    convert.scale.push_back(finite("std", std, 1 / (white * std)));
  }
  for (std::size_t c = 0; c < (means > stds ? means : stds); ++c) {
    const double mean = options.mean[means == 1 ? 0 : c];
    check_mean(mean);
    convert.bias.push_back(finite("mean", mean, -mean / options.std[stds == 1 ? 0 : c]));
  }
  return convert;
}

void check_channels(const NormalizeOptions& options, std::int64_t channels, Errc code) {
  if (image::one_or_each(options.mean, channels) && image::one_or_each(options.std, channels)) return;
  throw Error(code, "normalize has " + counted(options.mean.size(), "mean") + " and " +
                        counted(options.std.size(), "std") + " for an image of " +
                        counted(static_cast<std::uint64_t>(channels), "channel") +
                        ": one for all, or one each, are possible");
}

}  // namespace

Normalize::Normalize(NormalizeOptions options)
    : options_(std::move(options)), convert_(as_convert(options_, 255)), wide_(as_convert(options_, 65535)) {}

Normalize::Params Normalize::draw(const ImageShape&, Rng&) const { return {}; }

void Normalize::compose(const Params&, const ImageShape& shape, ImageOp& op) const {
  check_channels(options_, shape.channels, Errc::unsupported);
  (shape.element == DType::u16 ? wide_ : convert_).compose({}, shape, op);
}

Shape Normalize::schema(const Shape& in, DType& dtype) const {
  check_channels(options_, in[2], Errc::schema_mismatch);
  return convert_.schema(in, dtype);
}

std::string Normalize::describe() const {
  return std::string(to_string(options_.dtype)) + (options_.layout == Layout::chw ? " chw" : " hwc") + ", mean " +
         text(options_.mean) + ", std " + text(options_.std);
}

Stage normalize(std::string field, NormalizeOptions options) {
  return image_stage(std::move(field), Normalize(std::move(options)));
}

}  // namespace penstock
