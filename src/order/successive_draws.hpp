#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace penstock::detail {

/// `count` different records in the order in which they are drawn one after the other, each by its weight among those
/// left, as a pure function of weights and key. `weights` are 0 or more and at most 1, with at least `count` above 0;
/// those above 0 that are below 2^-1000 count as 2^-1000.
std::vector<std::uint64_t> successive_draws(std::span<const double> weights, std::uint64_t count, std::uint64_t key);

}  // namespace penstock::detail
