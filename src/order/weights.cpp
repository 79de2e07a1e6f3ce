// SPDX-License-Identifier: Apache-2.0
#include "order/weights.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include <penstock/error.hpp>
#include <penstock/extend/float_mode.hpp>

#include "base/number_text.hpp"

namespace penstock::detail {

void check_weights(std::span<const double> weights, std::string_view stage) {
  bool any = false;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (!(weights[i] >= 0) || !std::isfinite(weights[i]))
      throw Error(Errc::invalid_argument,
                  "weight " + std::to_string(i) + " is " + shortest(weights[i]) + "; weights are finite and 0 or more")
          .with_stage(stage);
    any = any || weights[i] > 0;
  }
  if (!any) throw Error(Errc::invalid_argument, "at least one weight must be above 0").with_stage(stage);
}

std::vector<std::uint64_t> integer_weights(std::span<const double> weights, unsigned bits) {
  const FloatMode standard;
  if (std::ranges::all_of(weights, [&](double w) { return w == weights.front(); }))
    return std::vector<std::uint64_t>(weights.size(), 1);
  // Divides all weights by the largest one before they are added, because their own sum may overflow.
  const double largest = *std::ranges::max_element(weights);
  double sum = 0;
  for (const double w : weights) sum += w / largest;
  const double scale = static_cast<double>(std::uint64_t{1} << bits);
  std::vector<std::uint64_t> out;
  out.reserve(weights.size());
  for (const double w : weights) {
    const auto value = static_cast<std::uint64_t>(w / largest / sum * scale);
    out.push_back(w > 0 && value == 0 ? 1 : value);
  }
  return out;
}

}  // namespace penstock::detail
