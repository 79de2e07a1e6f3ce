// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "sample_index.hpp"

namespace penstock::webdataset {

/// The samples that an earlier run has committed, in the order in which that run put them.
class StoredSamples {
 public:
  /// Adds one more shard.
  void add(ShardIndex shard);
  std::uint64_t size() const noexcept { return first_.back(); }
  const ShardIndex& last_shard() const noexcept { return shards_.back(); }
  /// Returns the key of sample `number`, which is below `size()`.
  std::string_view key(std::uint64_t number) const;

 private:
  std::vector<ShardIndex> shards_;
  // Number of each shard's first sample; the last entry is the number of all samples.
  std::vector<std::uint64_t> first_{0};
};

}  // namespace penstock::webdataset
