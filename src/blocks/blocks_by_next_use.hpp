// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <set>
#include <utility>

#include "blocks/known_blocks.hpp"

namespace penstock::detail::runtime {

/// A set of blocks, ordered by `KnownBlock::key`, with the sum of their bytes. A block's key may change only while the
/// block is pinned or not in the set.
class BlocksByNextUse {
 public:
  using Order = std::set<std::pair<std::uint64_t, std::uint64_t>>;  // (key, number)

  void add(std::uint64_t number, const KnownBlock& block) {
    unpin(number, block);
    bytes_ += block.bytes;
  }
  void remove(std::uint64_t number, const KnownBlock& block) noexcept {
    pin(number, block);
    bytes_ -= block.bytes;
  }
  /// Takes the block out of the order until `unpin`. The sum of bytes still includes the block.
  void pin(std::uint64_t number, const KnownBlock& block) noexcept { order_.erase({block.key, number}); }
  void unpin(std::uint64_t number, const KnownBlock& block) { order_.emplace(block.key, number); }
  void clear() noexcept {
    order_.clear();
    bytes_ = 0;
  }

  const Order& order() const noexcept { return order_; }
  /// Returns the number of the block with the highest key, which is the block to evict first.
  std::uint64_t farthest() const noexcept { return std::prev(order_.end())->second; }
  std::size_t bytes() const noexcept { return bytes_; }

 private:
  Order order_;
  std::size_t bytes_ = 0;
};

}  // namespace penstock::detail::runtime
