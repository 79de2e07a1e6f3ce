#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "sample_index.hpp"

namespace penstock::webdataset {

/// Where an item stands: position and child.
using ItemPlace = std::pair<std::uint64_t, std::uint32_t>;

/// What an earlier run has committed, in the order in which it was put.
class StoredSamples {
 public:
  /// One more shard.
  void add(ShardIndex shard);
  std::uint64_t size() const noexcept { return first_.back(); }
  const ShardIndex& last_shard() const noexcept { return shards_.back(); }
  /// Of sample `number`, below `size()`.
  std::string_view key(std::uint64_t number) const;

  // Where not every position has a sample. Asked in the items' order, some may be asked again.
  /// Whether the next one that was not found yet has this name, or the item was found before.
  bool find(const ItemPlace& item, std::string_view name);
  std::uint64_t found() const noexcept { return found_; }
  /// Of the last one found; only where there is one.
  const ItemPlace& last_found() const noexcept { return last_found_; }

 private:
  std::vector<ShardIndex> shards_;
  std::vector<std::uint64_t> first_{0};  // first sample of each of these, and the number of all
  std::uint64_t found_ = 0;
  ItemPlace last_found_;
};

}  // namespace penstock::webdataset
