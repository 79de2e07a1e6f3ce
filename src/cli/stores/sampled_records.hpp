#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace penstock::cli {

struct SampleSize {
  std::uint64_t most = 0;                       ///< records
  std::uint64_t most_read = ~std::uint64_t{0};  ///< the same, with those that are read because they share their block
};

/// About `most` records of a store of `size`, spread evenly, in order, or fewer where `most_read` says so, but some;
/// all where there are no more. `block_ends`: where blocks of records end that are best read together, the last one at
/// `size`, or empty: of blocks, runs are chosen.
std::vector<std::uint64_t> sampled_records(std::uint64_t size, std::span<const std::uint64_t> block_ends,
                                           SampleSize sample);

}  // namespace penstock::cli
