// SPDX-License-Identifier: Apache-2.0
#include <penstock/transforms/image/normalize_stain.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <string_view>
#include <utility>

#include <penstock/error.hpp>
#include <penstock/extend/transform.hpp>
#include <penstock/stages/map.hpp>
#include <penstock/transforms/image/stain_jitter.hpp>

#include "kernels.hpp"
#include "matrix3.hpp"
#include "reinhard_rows.hpp"
#include "stain_numbers.hpp"

namespace penstock {

namespace {

std::string_view name_of(StainMethod method) { return method == StainMethod::reinhard ? "Reinhard" : "Macenko"; }

void require_fit(const StainFit& fit, Errc code, const std::string& what) {
  if (const std::string_view wrong = image::what_is_wrong(fit); !wrong.empty())
    throw Error(code, what + " is no fit of stains: " + std::string(wrong));
}

std::array<image::Vector3, 2> stains_of(const StainFit& fit) {
  std::array<image::Vector3, 2> stains{};
  for (std::size_t s = 0; s < 2; ++s)
    for (std::size_t c = 0; c < 3; ++c) stains[s][c] = static_cast<double>(fit.stains[s][c]);
  return stains;
}

// Combines three steps into one matrix: densities become concentrations; concentrations are scaled to the target's; the
// results become densities again.
StainChange macenko_change(const StainFit& fit, const StainFit& target) {
  const image::StainInverse inverse = *image::inverse_of(stains_of(fit));
  const std::array<image::Vector3, 2> stains = stains_of(target);
  StainChange change;
  for (std::size_t to = 0; to < 3; ++to)
    for (std::size_t from = 0; from < 3; ++from) {
      double sum = 0;
      for (std::size_t s = 0; s < 2; ++s)
        sum += stains[s][to] *
               (static_cast<double>(target.max_concentrations[s]) / static_cast<double>(fit.max_concentrations[s])) *
               inverse[s][from];
      change.matrix[to][from] = static_cast<float>(sum);
    }
  return change;
}

// Combines three steps into one change: logarithms of cones become l, alpha and beta; l, alpha and beta are changed;
// the results become logarithms again. The matrix of the last step is the transposed matrix of the first.
image::ReinhardChange reinhard_change(const StainFit& fit, const StainFit& target) {
  const image::Matrix3& lab = image::lab_of_log_cones;
  image::Vector3 factor{}, shift{};
  for (std::size_t c = 0; c < 3; ++c) {
    factor[c] = static_cast<double>(target.std[c]) / static_cast<double>(fit.std[c]);
    shift[c] = static_cast<double>(target.mean[c]) - static_cast<double>(fit.mean[c]) * factor[c];
  }
  image::ReinhardChange change{};
  for (std::size_t to = 0; to < 3; ++to) {
    double offset = 0;
    for (std::size_t c = 0; c < 3; ++c) offset += lab[c][to] * shift[c];
    change.offset[to] = static_cast<float>(offset);
    for (std::size_t from = 0; from < 3; ++from) {
      double sum = 0;
      for (std::size_t c = 0; c < 3; ++c) sum += lab[c][to] * factor[c] * lab[c][from];
      change.matrix[to][from] = static_cast<float>(sum);
      change.cones_of_rgb[to][from] = static_cast<float>(image::cones_of_rgb[to][from]);
      change.rgb_of_cones[to][from] = static_cast<float>(image::rgb_of_cones[to][from]);
    }
  }
  return change;
}

void apply_reinhard(const image::ReinhardChange& change, View<std::uint8_t, 3> picture) {
  const auto count = static_cast<std::uint64_t>(picture.extent(0)) * static_cast<std::uint64_t>(picture.extent(1));
  const image::ReinhardRows change_rows = image::reinhard_rows();
  const image::SplitRow split = image::split_row();
  const image::ColorRowKernels rows = image::color_rows();
  alignas(64) std::uint8_t planes[3][image::color_block] = {};
  for (std::uint64_t first = 0; first < count; first += image::color_block) {
    const auto part = static_cast<std::size_t>(std::min<std::uint64_t>(image::color_block, count - first));
    std::uint8_t* const at = picture.data() + 3 * first;
    split(at, part, 3, planes[0], image::color_block);
    change_rows({planes[0], planes[1], planes[2]}, part, change);
    rows.merge({planes[0], planes[1], planes[2]}, part, at);
  }
}

// `fit` and `target` must be of the same method.
void change_image(View<std::uint8_t, 3> picture, const StainFit& fit, const StainFit& target) {
  if (picture.extent(2) != 3)
    throw Error(Errc::unsupported,
                "stains are changed in images of 3 channels; this one has " + std::to_string(picture.extent(2)));
  if (fit.method == StainMethod::reinhard)
    apply_reinhard(reinhard_change(fit, target), picture);
  else
    StainJitter::apply(macenko_change(fit, target), picture);
}

class NormalizeStain {
 public:
  NormalizeStain(std::string field, NormalizeStainOptions options)
      : field_(std::move(field)), options_(std::move(options)) {
    if (options_.target) require_fit(*options_.target, Errc::invalid_argument, "normalize_stain: `target`");
  }

  Schema schema(const Schema& in) const {
    try {
      check(in.at(field_), in.at(options_.fit));
    } catch (Error& error) {
      throw error.with_stage(name());
    }
    return in;
  }

  void operator()(Sample& sample, Context&) const {
    const StainFit fit = StainFit::of(std::as_const(sample).view<const float, 1>(options_.fit).flat());
    require_method(fit.method, Errc::unsupported);
    require_fit(fit, Errc::corrupt, "field \"" + options_.fit + "\"");
    change_image(sample.view<std::uint8_t, 3>(field_), fit,
                 options_.target ? *options_.target : StainFit::reference(fit.method));
  }

  std::string name() const { return "normalize_stain(" + field_ + ")"; }
  std::uint64_t version() const { return 0; }
  std::string describe() const {
    std::string text = "from " + options_.fit;
    if (!options_.target) return text;
    text += " to " + std::string(name_of(options_.target->method));
    for (const float value : options_.target->values()) {
      std::array<char, 32> digits;
      text += " ";
      text.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr);
    }
    return text;
  }

 private:
  void check(const Field& image, const Field& fit) const {
    if (image.dtype != DType::u8 || image.shape.rank() != 3 || (image.shape[2] != 3 && image.shape[2] != dynamic))
      throw Error(Errc::schema_mismatch, "it takes images u8 [H, W, 3]; field \"" + field_ + "\" is " +
                                             std::string(to_string(image.dtype)) + image.shape.to_string() +
                                             (image.dtype == DType::u16 ? "; decode it to 8 bits, with `high_byte = "
                                                                          "true`"
                                                                        : ""));
    if (fit.dtype != DType::f32 || fit.shape.rank() != 1)
      throw Error(Errc::schema_mismatch, "it takes fits f32 [8] (Macenko) or f32 [6] (Reinhard); field \"" +
                                             options_.fit + "\" is " + std::string(to_string(fit.dtype)) +
                                             fit.shape.to_string());
    if (!fit.shape.fixed()) return;
    if (fit.shape[0] != 8 && fit.shape[0] != 6)
      throw Error(Errc::schema_mismatch, "a fit of stains has 8 values (Macenko) or 6 (Reinhard); field \"" +
                                             options_.fit + "\" has " + std::to_string(fit.shape[0]));
    require_method(fit.shape[0] == 6 ? StainMethod::reinhard : StainMethod::macenko, Errc::schema_mismatch);
  }
  void require_method(StainMethod method, Errc code) const {
    if (options_.target && options_.target->method != method)
      throw Error(code, "field \"" + options_.fit + "\" has fits of " + std::string(name_of(method)) +
                            "'s, and `target` is of " + std::string(name_of(options_.target->method)) + "'s method");
  }

  std::string field_;
  NormalizeStainOptions options_;
};

}  // namespace

Stage normalize_stain(std::string field, NormalizeStainOptions options) {
  return map(NormalizeStain(std::move(field), std::move(options)));
}

void normalize_stain(View<std::uint8_t, 3> image, const StainFit& fit, const StainFit& target) {
  if (fit.method != target.method)
    throw Error(Errc::invalid_argument, "a fit of " + std::string(name_of(fit.method)) +
                                            "'s method is not mapped to one of " + std::string(name_of(target.method)) +
                                            "'s");
  require_fit(fit, Errc::corrupt, "what the image is said to be stained as");
  require_fit(target, Errc::corrupt, "the target");
  change_image(image, fit, target);
}

}  // namespace penstock
