// SPDX-License-Identifier: Apache-2.0
// Draws of a symmetric beta distribution: moments, distributions that are known in closed form, and fixed bits.
#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <numbers>
#include <vector>

#include "image/beta.hpp"
#include "support/catch.hpp"

namespace PENSTOCK_TEST_FILE {

using penstock::Rng;
using penstock::image::draw_beta;

namespace {

std::vector<double> draws(double alpha, std::uint64_t count) {
  std::vector<double> all;
  for (std::uint64_t i = 0; i < count; ++i) {
    Rng rng(17, 4, {0, i, 0, 0});
    all.push_back(draw_beta(alpha, rng));
  }
  return all;
}

// The largest distance between a distribution and the shares of draws below its arguments.
double distance(std::vector<double> drawn, const std::function<double(double)>& distribution) {
  std::sort(drawn.begin(), drawn.end());
  const auto count = static_cast<double>(drawn.size());
  double most = 0;
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    const double is = distribution(drawn[i]);
    most = std::max({most, is - static_cast<double>(i) / count, static_cast<double>(i + 1) / count - is});
  }
  return most;
}

}  // namespace

TEST_CASE("draws of beta have the distribution's mean, variance and fourth moment") {
  constexpr std::uint64_t count = 100'000;
  for (const double alpha : {0.001, 0.05, 0.2, 0.5, 0.999, 1.0, 1.001, 1.5, 2.0, 10.0, 100.0, 1000.0}) {
    CAPTURE(alpha);
    double sum = 0, second = 0, fourth = 0;
    for (const double x : draws(alpha, count)) {
      REQUIRE((x >= 0 && x <= 1));
      const double d = x - 0.5;
      sum += d, second += d * d, fourth += d * d * d * d;
    }
    const double variance = 1 / (4 * (2 * alpha + 1)), kurtosis = 3 - 6 / (2 * alpha + 3);
    const double n = count;
    // Five standard errors.
    CHECK(std::abs(sum / n) < 5 * std::sqrt(variance / n));
    CHECK(std::abs(second / n - variance) < 5 * variance * std::sqrt(std::max(kurtosis - 1, 0.01) / n));
    CHECK(std::abs(fourth / n - kurtosis * variance * variance) < 0.05 * kurtosis * variance * variance);
  }
}

TEST_CASE("draws of beta follow the distributions that are known in closed form") {
  constexpr std::uint64_t count = 100'000;
  const double most = 1.95 / std::sqrt(static_cast<double>(count));  // exceeded once in a thousand
  CHECK(distance(draws(0.5, count), [](double x) { return 2 / std::numbers::pi * std::asin(std::sqrt(x)); }) < most);
  CHECK(distance(draws(1, count), [](double x) { return x; }) < most);
  CHECK(distance(draws(2, count), [](double x) { return x * x * (3 - 2 * x); }) < most);
  CHECK(distance(draws(3, count), [](double x) { return x * x * x * (10 - 15 * x + 6 * x * x); }) < most);
  // And not those of neighbours.
  CHECK(distance(draws(2, count), [](double x) { return x; }) > 10 * most);
}

TEST_CASE("draws of beta have the same bits everywhere") {
  std::uint64_t hash = 0;
  for (const double alpha : {0.01, 0.2, 1.0, 1.5, 40.0})
    for (const double x : draws(alpha, 1000)) hash = hash * 1099511628211u + std::bit_cast<std::uint64_t>(x);
  CHECK(hash == 3049688049457146420u);
}

}  // namespace PENSTOCK_TEST_FILE
