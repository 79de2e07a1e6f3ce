// SPDX-License-Identifier: Apache-2.0
#include <penstock/transforms/image/stain_fit.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string>

#include <penstock/error.hpp>

#include "exact_math.hpp"
#include "macenko_fit.hpp"
#include "stain_numbers.hpp"

namespace penstock {

namespace {

constexpr std::size_t macenko_values = 8, reinhard_values = 6;

StainFit reinhard_fit(std::span<const std::uint8_t> rgb) {
  constexpr std::size_t pixels_together = 4096;
  constexpr double least_deviation = 0.001;
  std::array<double, 6> all{}, part{};
  image::require_pixels(rgb.size() / 3, "to measure");
  // Sums up `pixels_together` pixels at a time, and then adds these sums, so that rounding errors stay small in
  // large images.
  for (std::size_t first = 0; first < rgb.size(); first += 3 * pixels_together) {
    part.fill(0);
    for (std::size_t i = first; i < std::min(first + 3 * pixels_together, rgb.size()); i += 3) {
      image::Vector3 logs = image::product(image::cones_of_rgb, {rgb[i] + 1.0, rgb[i + 1] + 1.0, rgb[i + 2] + 1.0});
      for (double& value : logs) value = image::exact_log(value);
      const image::Vector3 lab = image::product(image::lab_of_log_cones, logs);
      for (std::size_t c = 0; c < 3; ++c) {
        part[c] += lab[c];
        part[3 + c] += lab[c] * lab[c];
      }
    }
    for (std::size_t i = 0; i < all.size(); ++i) all[i] += part[i];
  }
  const auto count = static_cast<double>(rgb.size() / 3);
  StainFit fit;
  fit.method = StainMethod::reinhard;
  for (std::size_t c = 0; c < 3; ++c) {
    const double mean = all[c] / count;
    const double deviation = std::sqrt(std::max(all[3 + c] / count - mean * mean, 0.0));
    if (deviation < least_deviation)
      throw Error(Errc::unsupported, "its stains can't be told: all its pixels have about the same colour");
    fit.mean[c] = static_cast<float>(mean);
    fit.std[c] = static_cast<float>(deviation);
  }
  return fit;
}

}  // namespace

std::vector<float> StainFit::values() const {
  std::vector<float> values;
  const auto add = [&](const auto& numbers) { values.insert(values.end(), numbers.begin(), numbers.end()); };
  if (method == StainMethod::reinhard) {
    add(mean);
    add(std);
  } else {
    add(stains[0]);
    add(stains[1]);
    add(max_concentrations);
  }
  return values;
}

StainFit StainFit::of(std::span<const float> values) {
  StainFit fit;
  const auto take = [&](auto& numbers) {
    std::copy_n(values.begin(), numbers.size(), numbers.begin());
    values = values.subspan(numbers.size());
  };
  if (values.size() == reinhard_values) {
    fit.method = StainMethod::reinhard;
    take(fit.mean);
    take(fit.std);
  } else if (values.size() == macenko_values) {
    take(fit.stains[0]);
    take(fit.stains[1]);
    take(fit.max_concentrations);
  } else {
    throw Error(Errc::unsupported,
                "a fit of stains has 8 values (Macenko) or 6 (Reinhard); these are " + std::to_string(values.size()));
  }
  return fit;
}

StainFit StainFit::reference(StainMethod method) noexcept {
  StainFit fit;
  fit.method = method;
  if (method == StainMethod::reinhard) {
    fit.mean = {8.74108109f, -0.12440419f, 0.0444982f};
    fit.std = {0.6135447f, 0.10989545f, 0.0286032f};
  } else {
    fit.stains = {{{0.5626f, 0.7201f, 0.4062f}, {0.2159f, 0.8012f, 0.5581f}}};
    fit.max_concentrations = {1.9705f, 1.0308f};
  }
  return fit;
}

StainFit fit_stain(View<const std::uint8_t, 3> image, StainMethod method) {
  if (image.extent(2) != 3)
    throw Error(Errc::unsupported,
                "stains are told of images of 3 channels; this one has " + std::to_string(image.extent(2)));
  return method == StainMethod::reinhard ? reinhard_fit(image.flat()) : image::macenko_fit(image.flat());
}

}  // namespace penstock
