// SPDX-License-Identifier: Apache-2.0
#include "stain_numbers.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include <penstock/error.hpp>

namespace penstock::image {

std::optional<StainInverse> inverse_of(const std::array<Vector3, 2>& stains) noexcept {
  constexpr double square_sine_of_a_degree = 3.0458649e-4;
  const double hh = dot(stains[0], stains[0]), he = dot(stains[0], stains[1]), ee = dot(stains[1], stains[1]);
  const double determinant = hh * ee - he * he;
  if (!std::isfinite(determinant) || !(determinant >= square_sine_of_a_degree * hh * ee) || !(determinant > 0))
    return std::nullopt;
  StainInverse rows{};
  for (std::size_t i = 0; i < 3; ++i) {
    rows[0][i] = (ee * stains[0][i] - he * stains[1][i]) / determinant;
    rows[1][i] = (hh * stains[1][i] - he * stains[0][i]) / determinant;
  }
  return rows;
}

std::string_view what_is_wrong(const StainFit& fit) noexcept {
  const auto good = [](const auto& values, float above) {
    return std::ranges::all_of(values, [&](float value) { return std::isfinite(value) && value > above; });
  };
  if (fit.method == StainMethod::reinhard) {
    if (!good(fit.mean, -INFINITY)) return "its means are no numbers";
    return good(fit.std, 0) ? "" : "its standard deviations are not positive";
  }
  if (fit.method != StainMethod::macenko) return "its method is none";
  if (!good(fit.max_concentrations, 0)) return "its concentrations are not positive";
  std::array<Vector3, 2> stains{};
  for (std::size_t s = 0; s < 2; ++s)
    for (std::size_t i = 0; i < 3; ++i) stains[s][i] = static_cast<double>(fit.stains[s][i]);
  return inverse_of(stains) ? "" : "its two stains are less than a degree apart";
}

void require_pixels(std::uint64_t count, std::string_view which) {
  constexpr std::uint64_t least_pixels = 100;
  if (count < least_pixels)
    throw Error(Errc::unsupported, "its stains can't be told: it has " + std::to_string(count) + " pixels " +
                                       std::string(which) + ", and 100 are needed");
}

void throw_one_stain() {
  throw Error(Errc::unsupported,
              "its stains can't be told: its pixels have the colours of one stain, or of none; two that are a degree "
              "apart at least are needed");
}

}  // namespace penstock::image
