// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace penstock::detail {

/// Checks weights. @throws Error(invalid_argument) of `stage` if a weight is negative or not finite, or if none is
/// above 0.
void check_weights(std::span<const double> weights, std::string_view stage);
/// Converts checked weights to integers. If all weights are equal, each becomes 1, so that shares are exact. Otherwise
/// the sum of the integers is close to 2^bits, and exceeds it by at most one per weight. Weights above 0 stay above 0.
std::vector<std::uint64_t> integer_weights(std::span<const double> weights, unsigned bits);

}  // namespace penstock::detail
