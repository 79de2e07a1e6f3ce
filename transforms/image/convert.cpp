// SPDX-License-Identifier: Apache-2.0
#include <penstock/transforms/image/convert.hpp>

#include <cmath>

#include "describe.hpp"
#include "one_or_each.hpp"

namespace penstock {

using image::text;

namespace {

void check_values(const char* what, const std::vector<double>& values) {
  if (values.empty() || values.size() > 4)
    throw Error(Errc::invalid_argument, std::string("convert: ") + what +
                                            " must be 1 to 4 values, one for all channels "
                                            "or one each");
  for (const double value : values)
    if (!std::isfinite(static_cast<float>(value)))
      throw Error(Errc::invalid_argument, std::string("convert: ") + what + " " + text(value) + " is not a finite f32");
}

std::array<float, 4> per_channel(const std::vector<double>& values) {
  std::array<float, 4> all{};
  for (std::size_t c = 0; c < 4; ++c)
    all[c] = static_cast<float>(values.size() == 1 ? values[0] : c < values.size() ? values[c] : 0);
  return all;
}

std::string mismatch(const ConvertOptions& options, std::int64_t channels) {
  const std::size_t biases = options.bias.size();
  return "convert has " + image::counted(options.scale.size(), "scale") + " and " + std::to_string(biases) +
         (biases == 1 ? " bias" : " biases") + " for an image of " +
         image::counted(static_cast<std::uint64_t>(channels), "channel") + ": one for all, or one each, are possible";
}

}  // namespace

Convert::Convert(ConvertOptions options) : options_(std::move(options)) {
  check_values("scale", options_.scale);
  check_values("bias", options_.bias);
  const bool whole = options_.dtype == DType::u8 || options_.dtype == DType::u16;
  const std::string to = "convert to " + std::string(to_string(options_.dtype));
  if (!whole && options_.dtype != DType::f16 && options_.dtype != DType::bf16 && options_.dtype != DType::f32)
    throw Error(Errc::invalid_argument, to + ": u8, u16, f16, bf16 and f32 are possible");
  if (!whole) return;
  for (const double value : options_.scale)
    if (value != 1) throw Error(Errc::invalid_argument, to + " has scale 1: other values need f32, f16 or bf16");
  for (const double value : options_.bias)
    if (value != 0) throw Error(Errc::invalid_argument, to + " has bias 0: other values need f32, f16 or bf16");
}

Convert::Params Convert::draw(const ImageShape&, Rng&) const { return {}; }

void Convert::compose(const Params&, const ImageShape& shape, ImageOp& op) const {
  if (!image::one_or_each(options_.scale, shape.channels) || !image::one_or_each(options_.bias, shape.channels))
    throw Error(Errc::unsupported, mismatch(options_, shape.channels));
  op.convert(options_.dtype, options_.layout, per_channel(options_.scale), per_channel(options_.bias));
}

Shape Convert::schema(const Shape& in, DType& dtype) const {
  if (!image::one_or_each(options_.scale, in[2]) || !image::one_or_each(options_.bias, in[2]))
    throw Error(Errc::schema_mismatch, mismatch(options_, in[2]));
  if ((options_.dtype == DType::u8 || options_.dtype == DType::u16) && dtype != options_.dtype)
    throw Error(Errc::schema_mismatch,
                "convert to " + std::string(to_string(options_.dtype)) + " takes an image of that type, and it is " +
                    std::string(to_string(dtype)) +
                    (dtype == DType::u16 ? ": decode it to 8 bits (`high_byte = true` keeps the upper half of "
                                           "each value), or cast it before, which keeps values of 0 to 255 alone"
                                         : ": decode it with `dtype = u16`, or cast it before"));
  dtype = options_.dtype;
  if (options_.layout == Layout::chw) return {in[2], in[0], in[1]};
  return in;
}

std::string Convert::describe() const {
  return std::string(to_string(options_.dtype)) + (options_.layout == Layout::chw ? " chw" : " hwc") + ", scale " +
         text(options_.scale) + ", bias " + text(options_.bias);
}

Stage convert(std::string field, ConvertOptions options) {
  return image_stage(std::move(field), Convert(std::move(options)));
}

}  // namespace penstock
