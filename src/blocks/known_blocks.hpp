// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

namespace penstock::detail::runtime {

/// A block that samples in sight need, or that is in memory after the last planned sample, or both.
struct KnownBlock {
  /// Keys from this number on are for blocks without a known next use. These go first, the one that was used longest
  /// ago before the others.
  static constexpr std::uint64_t never = std::uint64_t{1} << 63;

  std::uint64_t uses = 0;                        ///< uses by samples in sight
  std::uint64_t next_use = 0, farthest_use = 0;  ///< numbers of those samples
  bool stays = false;                            ///< is in memory
  bool gone = false;                             ///< was evicted, and would be in twice the memory
  std::size_t bytes = 0;                         ///< set if `stays` or `gone`
  std::uint64_t key = 0;                         ///< its key in the order of that set
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
  /// Forgets the block if nothing is known of it any more.
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
  std::vector<decltype(blocks_)::node_type> nodes_;  // nodes that are kept, because thousands come and go
};

}  // namespace penstock::detail::runtime
