// SPDX-License-Identifier: Apache-2.0
#include <penstock/transforms/image/stain_jitter.hpp>

#include <algorithm>
#include <utility>

#include "describe.hpp"
#include "exact_math.hpp"
#include "jitter_stage.hpp"
#include "kernels.hpp"
#include "matrix3.hpp"
#include "stain_rows.hpp"

namespace penstock {

namespace {

// The rows are the colours of haematoxylin, eosin and DAB.
constexpr image::Matrix3 stain_colors = {{{0.65, 0.70, 0.29}, {0.07, 0.99, 0.11}, {0.27, 0.57, 0.78}}};
constexpr image::Matrix3 stains_of_colors = image::inverse(stain_colors);

OpticalDensities make_densities() {
  OpticalDensities densities;
  for (int level = 0; level < 256; ++level)
    densities.of[level] = static_cast<float>(0 - image::exact_log((level + 1) / 256.0));
  return densities;
}

}  // namespace

StainJitter::StainJitter(const StainJitterOptions& options) : options_(options) {
  const auto require = [](const char* name, double value, double most) {
    if (!(value >= 0 && value <= most))
      throw Error(Errc::invalid_argument, std::string("stain_jitter: ") + name + " " + image::text(value) +
                                              " is not 0 to " + image::text(most));
  };
  require("alpha", options.alpha, 1);
  require("beta", options.beta, 10);
}

StainJitter::Params StainJitter::draw(Rng& rng) const {
  std::array<double, 3> alpha{}, beta{};
  for (std::size_t stain = 0; stain < 3; ++stain) {
    alpha[stain] = rng.uniform(1 - options_.alpha, 1 + options_.alpha);
    beta[stain] = rng.uniform(-options_.beta, options_.beta);
  }
  return params(alpha, beta);
}

// Combines three steps (to concentrations, the change, back to densities) into one matrix and one offset:
// D' = ((D M^-1) alpha + beta) M, where M is `stain_colors`.
StainJitter::Params StainJitter::params(const std::array<double, 3>& alpha, const std::array<double, 3>& beta) {
  Params params;
  for (std::size_t to = 0; to < 3; ++to) {
    for (std::size_t from = 0; from < 3; ++from) {
      double sum = 0;
      for (std::size_t stain = 0; stain < 3; ++stain)
        sum += stains_of_colors[from][stain] * alpha[stain] * stain_colors[stain][to];
      params.matrix[to][from] = static_cast<float>(sum);
    }
    double sum = 0;
    for (std::size_t stain = 0; stain < 3; ++stain) sum += beta[stain] * stain_colors[stain][to];
    params.offset[to] = static_cast<float>(sum);
  }
  return params;
}

const OpticalDensities& StainJitter::densities() {
  static const OpticalDensities table = make_densities();
  return table;
}

void StainJitter::apply(const Params& params, View<std::uint8_t, 3> picture) {
  if (picture.extent(2) != 3)
    throw Error(Errc::unsupported,
                "stains are told apart in images of 3 channels; this one has " + std::to_string(picture.extent(2)));
  const auto count = static_cast<std::uint64_t>(picture.extent(0)) * static_cast<std::uint64_t>(picture.extent(1));
  if (params.active == 0) {
    std::fill_n(picture.data(), 3 * count, std::uint8_t{0});
    return;
  }
  const image::StainRows change = image::stain_rows();
  const image::SplitRow split = image::split_row();
  const image::ColorRowKernels rows = image::color_rows();
  alignas(64) std::uint8_t planes[3][image::color_block] = {};
  for (std::uint64_t first = 0; first < count; first += image::color_block) {
    const auto part = static_cast<std::size_t>(std::min<std::uint64_t>(image::color_block, count - first));
    std::uint8_t* const at = picture.data() + 3 * first;
    split(at, part, 3, planes[0], image::color_block);
    change({planes[0], planes[1], planes[2]}, part, params, densities());
    rows.merge({planes[0], planes[1], planes[2]}, part, at);
  }
}

void StainJitter::check(const Shape& image) const {
  if (image[2] != 3 && image[2] != dynamic)
    throw Error(Errc::schema_mismatch, "stain_jitter takes images of 3 channels; these are " + image.to_string());
}

std::string StainJitter::describe() const {
  return "alpha " + image::text(options_.alpha) + ", beta " + image::text(options_.beta);
}

Stage stain_jitter(std::string field, const StainJitterOptions& options) {
  return image::jitter_stage<StainChange>(std::move(field), "stain_jitter", StainJitter(options),
                                          [](const image::StainWork& work, StreamRef stream) {
                                            image::stain_jitter_on_gpu(work, StainJitter::densities(), stream);
                                          });
}

}  // namespace penstock
