// SPDX-License-Identifier: Apache-2.0
#include "stored_samples.hpp"

#include <algorithm>

namespace penstock::webdataset {

void StoredSamples::add(ShardIndex shard) {
  first_.push_back(size() + shard.samples());
  shard.entries = {};
  shards_.push_back(std::move(shard));
}

std::string_view StoredSamples::key(std::uint64_t number) const {
  const auto after = std::upper_bound(first_.begin(), first_.end(), number);
  const auto shard = static_cast<std::size_t>(after - first_.begin()) - 1;
  return shards_[shard].key(number - first_[shard]);
}

}  // namespace penstock::webdataset
