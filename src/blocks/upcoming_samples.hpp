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
  bool spare = false;          ///< the record can do without it
  std::uint64_t next_use = 0;  ///< number of the next sample in sight that needs it, if one does
};

/// A coming sample, and what it needs.
struct UpcomingSample {
  std::uint64_t index = 0;
  std::vector<std::uint64_t> blocks;    ///< blocks in the record's order
  std::vector<UpcomingBlock> distinct;  ///< blocks by number, each once
  std::size_t bytes = 0;                ///< bytes of the blocks that it can't do without; saturates
  std::optional<BlockRows> rows;        ///< rows of its only block, if that could go into the batch
  bool known = false;                   ///< the source can specify its needs
};

/// The coming samples of a feed: first those in sight, which a plan uses; then those that are only fetched.
class UpcomingSamples {
 public:
  /// Appends the next source indices, in order, some per call; appends nothing if none are left.
  using Feed = std::function<void(std::vector<std::uint64_t>&)>;

  /// `lookahead`, `at_least`: see BlockPlan. `asks_rows`: blocks can go into a batch.
  UpcomingSamples(const BlockModel& model, std::uint64_t lookahead, std::uint64_t at_least, bool asks_rows);

  void reset(Feed feed);
  /// Asks the feed and the source for the needs of the next `count` samples and of the samples after them.
  void prepare(std::uint64_t count) noexcept;
  /// Takes one fetched sample into sight. Returns false if none is left, or no more are to be in sight.
  bool look_ahead();

  bool empty() const noexcept { return in_sight_.empty(); }
  std::size_t size() const noexcept { return in_sight_.size(); }
  /// Returns a sample in sight; 0 is the next one.
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
  std::vector<std::uint64_t> fed_;  // indices from the feed that were not looked at yet
  std::size_t fed_at_ = 0;
  std::deque<UpcomingSample> fetched_;
  std::deque<UpcomingSample> in_sight_;
  std::uint64_t next_ = 0;
  std::uint64_t fetched_uses_ = 0, uses_in_sight_ = 0;  // uses of blocks by those samples
  std::vector<UpcomingSample> spare_;                   // kept to reuse their memory
};

}  // namespace penstock::detail::runtime
