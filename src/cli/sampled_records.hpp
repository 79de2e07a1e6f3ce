#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace penstock::cli {

/// About `most` records of a store of `size`, spread evenly, in order; all where there are no more. `block_ends`: where
/// blocks of records end that are best read together, the last one at `size`, or empty: of blocks, runs are chosen.
std::vector<std::uint64_t> sampled_records(std::uint64_t size, std::span<const std::uint64_t> block_ends,
                                           std::uint64_t most);

}  // namespace penstock::cli
