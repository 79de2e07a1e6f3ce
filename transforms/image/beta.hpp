// SPDX-License-Identifier: Apache-2.0
// Draws from a symmetric beta distribution, with the same bits everywhere.
#pragma once

#include <penstock/extend/rng.hpp>

namespace penstock::image {

// Returns a number of Beta(alpha, alpha), from 0 to 1. For alpha up to 1 by M. D. Joehnk's method (Metrika 8, 1964), in
// logarithms, so that small powers don't vanish. Above 1 by R. C. H. Cheng's algorithm BB (CACM 21, 1978).
// REQUIRES: 0.001 <= alpha <= 1000.
double draw_beta(double alpha, Rng& rng) noexcept;

}  // namespace penstock::image
