#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace penstock::detail {

/// @throws Error(invalid_argument) of `stage` for a weight that is negative or not finite, or where none is above 0.
void check_weights(std::span<const double> weights, std::string_view stage);
/// Weights that were checked, as integers whose sum is close to, and at most one per weight above, 2^bits. What is
/// above 0 stays so. All equal ones become 1, so that shares of them are exact.
std::vector<std::uint64_t> integer_weights(std::span<const double> weights, unsigned bits);

}  // namespace penstock::detail
