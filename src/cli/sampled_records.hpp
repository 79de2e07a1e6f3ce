#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace penstock::cli {

/// About `most` records of a store of `size`, spread evenly, in order; all where there are no more. `block_ends`: where
/// runs of records end that are best read together, or empty; then records of fewer, whole runs may be chosen.
std::vector<std::uint64_t> sampled_records(std::uint64_t size, std::span<const std::uint64_t> block_ends,
                                           std::uint64_t most);

}  // namespace penstock::cli
