// SPDX-License-Identifier: Apache-2.0
#include "beta.hpp"

#include <algorithm>
#include <cmath>

#include "exact_math.hpp"

namespace penstock::image {

namespace {

// Returns exp(x) for x <= 0.
double decayed(double x) noexcept { return x < -700 ? 0 : exact_exp(x); }

double draw_joehnk(double alpha, Rng& rng) noexcept {
  for (;;) {
    // Logarithms of U^(1/alpha) and V^(1/alpha).
    const double x = exact_log(1 - rng.uniform()) / alpha, y = exact_log(1 - rng.uniform()) / alpha;
    const double most = std::max(x, y), of_x = decayed(x - most), of_y = decayed(y - most);
    if (most + exact_log(of_x + of_y) <= 0) return of_x / (of_x + of_y);
  }
}

double draw_cheng(double alpha, Rng& rng) noexcept {
  constexpr double log_4 = 1.3862943611198906, log_5_and_1 = 2.6094379124341003;
  const double root = std::sqrt(alpha), beta = 1 / root, gamma = alpha + root;
  for (;;) {
    const double u = rng.uniform(), v = rng.uniform(), z = u * u * v;
    if (!(z > 0)) continue;
    const double odds = beta * exact_log(u / (1 - u)), w = alpha * exact_exp(odds);
    const double r = gamma * odds - log_4, s = alpha + r - w;
    if (s + log_5_and_1 < 5 * z && s < exact_log(z) &&
        r + 2 * alpha * exact_log(2 * alpha / (alpha + w)) < exact_log(z))
      continue;
    return w / (alpha + w);
  }
}

}  // namespace

double draw_beta(double alpha, Rng& rng) noexcept {
  return alpha <= 1 ? draw_joehnk(alpha, rng) : draw_cheng(alpha, rng);
}

}  // namespace penstock::image
