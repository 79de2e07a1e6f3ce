// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace penstock::cli {

struct SampledRecordLimits {
  std::uint64_t most = 0;  ///< number of records to choose
  /// Limit on records that are read, including records that share a block with a chosen record.
  std::uint64_t most_read = ~std::uint64_t{0};
};

/// Returns the indices of about `most` records of a store of `size` records, in order and spread evenly. `most_read`
/// may reduce the number of records, but not below 16. If the store has no more records than would be chosen,
/// returns all of them. `block_ends`: ends of blocks of records that are best read together. The last block ends at
/// `size`. The list is empty if the store has no blocks. With blocks, chooses runs of consecutive records.
std::vector<std::uint64_t> sampled_records(std::uint64_t size, std::span<const std::uint64_t> block_ends,
                                           SampledRecordLimits sample);

}  // namespace penstock::cli
