// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace penstock::detail {

/// Draws `count` different records one after the other, each by its weight among the remaining records. Returns the
/// records in this order. The result depends only on weights and key. Weights above 0 and below 2^-1000 count as
/// 2^-1000. REQUIRES: weights are from 0 to 1, and at least `count` of them are above 0.
std::vector<std::uint64_t> successive_draws(std::span<const double> weights, std::uint64_t count, std::uint64_t key);

}  // namespace penstock::detail
