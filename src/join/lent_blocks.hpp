// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include <penstock/detail/source_model.hpp>

namespace penstock::detail {

/// Keeps the blocks that were lent to a reader for its next record, until it lends them to a reader of its own.
class LentBlocks {
 public:
  struct Lent {
    BlockData blocks;      ///< the record's blocks; after a failure, only the blocks before the failed one
    const Error* failure;  ///< the failure, or null
  };
  void set(std::uint64_t index, BlockData blocks, const Error* failure) noexcept {
    index_ = index;
    lent_ = {blocks, failure};
  }
  void forget() noexcept { index_.reset(); }
  /// Returns what was lent for this record; none if nothing was lent for it. Forgets what was lent.
  std::optional<Lent> take(std::uint64_t index) noexcept {
    return std::exchange(index_, std::nullopt) == index ? std::optional(lent_) : std::nullopt;
  }

 private:
  std::optional<std::uint64_t> index_;
  Lent lent_{};
};

}  // namespace penstock::detail
