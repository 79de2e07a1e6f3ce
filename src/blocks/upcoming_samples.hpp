// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include <penstock/detail/source_model.hpp>
#include <penstock/extend/block_source.hpp>

namespace penstock::detail::runtime {

/// One of the blocks that a sample in sight needs.
struct UpcomingBlock {
  std::uint64_t number;
  std::size_t bytes = 0;
  bool spare = false;          ///< the record can do without the block
  std::uint64_t next_use = 0;  ///< number of the next sample in sight that needs the block, if there is one
};

/// A coming sample, and the blocks that it needs.
struct UpcomingSample {
  std::uint64_t index = 0;
  std::vector<std::uint64_t> blocks;    ///< blocks in the record's order
  std::vector<UpcomingBlock> distinct;  ///< the same blocks sorted by number, each once
  std::size_t bytes = 0;                ///< bytes of the blocks that the record can't do without; saturates
  std::optional<BlockRows> rows;        ///< rows of the sample's only block, if the block could go into the batch
  bool known = false;                   ///< the source could tell which blocks the sample needs
};

/// The coming samples of a feed. The first of them are in sight: a plan uses them. The others are only fetched.
class UpcomingSamples {
 public:
  /// Appends one or more of the next source indices, in order. Appends nothing if no index is left.
  using Feed = std::function<void(std::vector<std::uint64_t>&)>;

  /// `lookahead`, `at_least`: see BlockPlan. `asks_rows`: blocks can go into a batch.
  UpcomingSamples(const BlockModel& model, std::uint64_t lookahead, std::uint64_t at_least, bool asks_rows);

  void reset(Feed feed);
  /// Fetches the next `count` samples from the feed, and samples after these to look ahead. Asks the source which
  /// blocks the fetched samples need.
  void prepare(std::uint64_t count) noexcept;
  /// Takes one fetched sample into sight. Returns false if no fetched sample is left, or if enough samples are in
  /// sight.
  bool look_ahead();

  bool empty() const noexcept { return in_sight_.empty(); }
  std::size_t size() const noexcept { return in_sight_.size(); }
  /// Returns a sample in sight. `i`: 0 for the next sample, 1 for the sample after that.
  const UpcomingSample& operator[](std::size_t i) const noexcept { return in_sight_[i]; }
  const UpcomingSample& last() const noexcept { return in_sight_.back(); }
  /// Returns the number of the next sample, counted from 0.
  std::uint64_t next() const noexcept { return next_; }
  /// Returns a block of a sample in sight.
  UpcomingBlock& block_of(std::uint64_t sample, std::uint64_t block) noexcept;
  /// Takes the next sample out of sight.
  UpcomingSample take();
  /// Takes back the sample's memory for reuse.
  void give_back(UpcomingSample sample);

 private:
  std::size_t known() const noexcept { return in_sight_.size() + fetched_.size(); }
  bool fetch();
  void describe(UpcomingSample& next) const;

  const BlockModel& model_;
  const std::uint64_t lookahead_, at_least_;
  const bool asks_rows_;
  Feed feed_;
  std::vector<std::uint64_t> fed_;  // indices from the feed, of which the first `fed_at_` were fetched
  std::size_t fed_at_ = 0;
  std::deque<UpcomingSample> fetched_;
  std::deque<UpcomingSample> in_sight_;
  std::uint64_t next_ = 0;
  // Uses of blocks by the samples in `fetched_` and in `in_sight_`.
  std::uint64_t fetched_uses_ = 0, uses_in_sight_ = 0;
  std::vector<UpcomingSample> spare_;  // samples whose memory is reused
};

}  // namespace penstock::detail::runtime
