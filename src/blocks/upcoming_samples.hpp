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
  std::uint64_t next_use = 0;  ///< number of the next sample in sight that needs it; where there is one
};

/// A sample that comes, and what it needs.
struct UpcomingSample {
  std::uint64_t index = 0;
  std::vector<std::uint64_t> blocks;    ///< blocks in the record's order
  std::vector<UpcomingBlock> distinct;  ///< blocks by number, each once
  std::size_t bytes = 0;                ///< bytes of blocks that it can't do without; saturates
  std::optional<BlockRows> rows;        ///< rows of its only block, where that could go into the batch
  bool known = false;                   ///< the source can say what it needs
};

/// The samples of a feed: those in sight, which a plan knows, and before they are, those that were fetched.
class UpcomingSamples {
 public:
  /// Appends the source indices that come next, in order, some at a time; nothing: there are no more.
  using Feed = std::function<void(std::vector<std::uint64_t>&)>;

  /// `lookahead`, `at_least`: as of BlockPlan. `asks_rows`: blocks can go into a batch.
  UpcomingSamples(const BlockModel& model, std::uint64_t lookahead, std::uint64_t at_least, bool asks_rows);

  void reset(Feed feed);
  /// Asks the feed, and the source, for what the next `count` samples need, and those after them.
  void prepare(std::uint64_t count) noexcept;
  /// Takes into sight what is fetched, one sample. False: there is none, or no more is to be in sight.
  bool look_ahead();

  bool empty() const noexcept { return in_sight_.empty(); }
  std::size_t size() const noexcept { return in_sight_.size(); }
  /// Those in sight, the next one first.
  const UpcomingSample& operator[](std::size_t i) const noexcept { return in_sight_[i]; }
  const UpcomingSample& last() const noexcept { return in_sight_.back(); }
  /// Number of the next sample, from 0.
  std::uint64_t next() const noexcept { return next_; }
  /// A block that the sample of that number needs, which is in sight.
  UpcomingBlock& block_of(std::uint64_t sample, std::uint64_t block) noexcept;
  /// The next sample, which is in sight no more.
  UpcomingSample take();
  /// Its room may be used again.
  void give_back(UpcomingSample sample);

 private:
  std::size_t known() const noexcept { return in_sight_.size() + fetched_.size(); }
  bool fetch();
  void describe(UpcomingSample& next) const;

  const BlockModel& model_;
  const std::uint64_t lookahead_, at_least_;
  const bool asks_rows_;
  Feed feed_;
  std::vector<std::uint64_t> fed_;  // indices of the feed that are not looked at
  std::size_t fed_at_ = 0;
  std::deque<UpcomingSample> fetched_;
  std::deque<UpcomingSample> in_sight_;
  std::uint64_t next_ = 0;
  std::uint64_t fetched_uses_ = 0, uses_in_sight_ = 0;  // uses of blocks by those samples
  std::vector<UpcomingSample> spare_;                   // room that is kept
};

}  // namespace penstock::detail::runtime
