// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

namespace penstock::detail::runtime {

/// A block that the plan keeps track of: a sample in sight needs it, it is in memory once the last planned sample is
/// made, or it is `gone`.
struct KnownBlock {
  /// Blocks without a known next use have keys above this number, so they are evicted first. The longer ago such a
  /// block was used, the higher is its key.
  static constexpr std::uint64_t never = std::uint64_t{1} << 63;

  std::uint64_t uses = 0;  ///< how many samples in sight need the block
  /// Numbers of the first and the last sample in sight that need the block.
  std::uint64_t next_use = 0, farthest_use = 0;
  bool stays = false;  ///< the block is in memory
  /// The block was evicted, but would still be in memory if the memory limit were about twice as large.
  bool gone = false;
  std::size_t bytes = 0;  ///< set if `stays` or `gone`
  std::uint64_t key = 0;  ///< the block's key in the BlocksByNextUse that has the block
  std::uint64_t last_use = 0;

  void set_key() noexcept { key = uses != 0 ? next_use : never + (never >> 1) - last_use; }
};

/// The known blocks, by number. References stay valid until the block is forgotten.
class KnownBlocks {
 public:
  /// REQUIRES: the block is known.
  KnownBlock& at(std::uint64_t number) { return blocks_.find(number)->second; }
  const KnownBlock& at(std::uint64_t number) const { return blocks_.find(number)->second; }
  /// Returns null if the block is unknown.
  const KnownBlock* find(std::uint64_t number) const {
    const auto found = blocks_.find(number);
    return found != blocks_.end() ? &found->second : nullptr;
  }
  KnownBlock& operator[](std::uint64_t number) {
    if (nodes_.empty() || blocks_.contains(number)) return blocks_[number];
    auto node = std::move(nodes_.back());
    nodes_.pop_back();
    node.key() = number;
    node.mapped() = {};
    return blocks_.insert(std::move(node)).position->second;
  }
  /// Forgets the block unless a sample in sight needs it, it is in memory, or it is `gone`.
  void forget_if_unused(std::uint64_t number) {
    const auto found = blocks_.find(number);
    if (found != blocks_.end() && found->second.uses == 0 && !found->second.stays && !found->second.gone)
      nodes_.push_back(blocks_.extract(found));
  }
  /// Forgets all blocks for which `keeps(number, block)` is false.
  void keep(const auto& keeps) {
    for (auto at = blocks_.begin(); at != blocks_.end();)
      at = keeps(at->first, at->second) ? std::next(at) : blocks_.erase(at);
  }

 private:
  std::unordered_map<std::uint64_t, KnownBlock> blocks_;
  std::vector<decltype(blocks_)::node_type> nodes_;  // nodes that are reused, because thousands of blocks come and go
};

}  // namespace penstock::detail::runtime
