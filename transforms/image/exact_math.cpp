// SPDX-License-Identifier: Apache-2.0
#include "exact_math.hpp"

#include <cmath>

namespace penstock::image {

namespace {

// ln 2 = high + low. `high` has so few bits that its small multiples are exact.
constexpr double ln2_high = 0x1.62e42feep-1, ln2_low = 0x1.a39ef35793c76p-33;

}  // namespace

double exact_log(double x) noexcept {
  int exponent = 0;
  double m = std::frexp(x, &exponent);
  if (m < 0.70710678118654752) {
    m *= 2;
    --exponent;
  }
  // log m = 2 artanh s.
  const double s = (m - 1) / (m + 1), square = s * s;
  double series = 0;
  for (int n = 23; n >= 1; n -= 2) series = series * square + 1.0 / n;
  return exponent * ln2_high + (2 * s * series + exponent * ln2_low);
}

double exact_exp(double x) noexcept {
  const double scaled = x * 1.4426950408889634;
  const int k = static_cast<int>(scaled < 0 ? scaled - 0.5 : scaled + 0.5);
  const double r = (x - k * ln2_high) - k * ln2_low;
  double series = 1;
  for (int n = 16; n >= 1; --n) series = 1 + series * r / n;
  return std::ldexp(series, k);
}

}  // namespace penstock::image
