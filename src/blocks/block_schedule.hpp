#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include <penstock/detail/source_model.hpp>
#include <penstock/memory.hpp>
#include <penstock/report.hpp>

#include "blocks/block_memory.hpp"
#include "blocks/block_plan.hpp"
#include "blocks/block_queue.hpp"
#include "blocks/block_repeats.hpp"

namespace penstock::detail::runtime {

/// A plan of blocks knows at least so many records ahead.
inline constexpr std::uint64_t min_records_in_sight = 4096;

/// Runners that blocks are loaded by: at first, and the most that there may be later.
struct BlockRunners {
  unsigned first, most;
};

/// Blocks for the samples of a run: what the plan says becomes work, and memory.
///
/// Loads get their memory in the order of samples, each as soon as there is some: what an earlier sample still uses is
/// gone before a later one's block comes, so the oldest sample that is not made never waits for anything but loads that
/// can begin.
class BlockSchedule {
 public:
  using Feed = BlockPlan::Feed;
  using Work = BlockQueue::Work;

  /// `in_flight`: the most samples that are issued and not made; `destination_bytes`: as of
  /// BlockPlan; `option`: of the user's, which set the limit.
  BlockSchedule(const BlockModel& model, std::size_t limit_bytes, std::uint64_t lookahead, std::size_t in_flight,
                BlockRunners runners, MemoryResource& memory, std::vector<std::size_t> destination_bytes = {},
                const char* option = "max_block_bytes");
  BlockSchedule(const BlockSchedule&) = delete;
  BlockSchedule& operator=(const BlockSchedule&) = delete;
  ~BlockSchedule();

  /// Begins again. Only while nothing is in work. Blocks are kept.
  void reset(Feed feed);

  // -- the thread that issues --
  /// Asks for what the next `count` samples of the feed need, and those after them: the feed, and the source.
  void prepare(std::uint64_t count) noexcept { plan_.prepare(count); }
  /// Samples number `first` …, a batch, may be made now, and are the next in order: those of the feed, `of_feed` of
  /// them, then others that need no block. `pass`: over the data, in which they are.
  void issue(std::uint64_t first, std::uint64_t of_feed, std::uint64_t count, std::uint64_t pass = 0) noexcept;

  // -- any thread --
  /// There are so many bytes from now on, no fewer than before. Which records are too large stays as it was.
  void raise_limit(std::size_t bytes) noexcept;
  /// What a runner does next, of all that can be done now: where it can, of the stretch of samples that it holds, which
  /// this sets (WorkStretches::choose).
  Work take(std::uint64_t& held) noexcept;
  /// The runner turns to something else.
  void leave(std::uint64_t& held) noexcept;
  /// Why there is nothing to do; none where no sample waits for a block.
  std::optional<Idle> why_idle() const noexcept;
  bool available() const noexcept { return available_.load(std::memory_order_seq_cst); }
  /// Loads a block; `destination`: its rows in the batch, of one that goes there. True: there is more to do than
  /// there was.
  bool load(std::shared_ptr<Residency> load, std::byte* destination = nullptr) noexcept;
  /// The blocks of a sample in work, which is record `index`, in their order; empty for those that it is to do without.
  /// False: they were not planned, and its
  /// reader is to find them. @throws Error of a block that could not be loaded.
  bool blocks_of(std::uint64_t sample, std::uint64_t index, std::vector<std::span<const std::byte>>& out);
  /// A sample is made. True: there is more to do than there was.
  bool done(std::uint64_t sample) noexcept;

  struct Counts {
    std::uint64_t loads = 0, uses = 0;
    std::uint64_t again = 0;            ///< loads of blocks that were loaded in the same pass before, about
    std::uint64_t saved_by_double = 0;  ///< loads that twice the memory would have saved, about
    std::size_t peak_bytes = 0;
  };
  Counts counts() const;

 private:
  void plan(std::uint64_t number, std::uint64_t left);
  void release(const auto& unwanted) noexcept;
  std::shared_ptr<Residency> add_load(const BlockPlan::Need& need, std::uint64_t number, bool in_batch);
  void drop(std::shared_ptr<Residency>& residency) noexcept;
  bool update() noexcept;

  const BlockModel& model_;
  const char* const option_;
  const std::size_t record_limit_;  // bytes that one record may need
  BlockPlan plan_;                  // the issuing thread's
  BlockPlan::Sample next_;          // room that is kept
  mutable std::mutex mutex_;
  std::atomic<bool> available_{false};
  std::atomic<bool> lacks_memory_{false};  // the next load may not begin
  std::atomic<std::uint64_t> in_load_{0};  // blocks
  // Under the mutex, and residencies as well:
  BlockQueue queue_;
  BlockMemory memory_;
  std::size_t not_begun_ = 0;  // bytes that are reserved for loads that have not begun
  std::unordered_map<std::uint64_t, std::shared_ptr<Residency>> held_;  // what the plan has in memory, by block
  std::shared_ptr<Residency> in_batch_;                                 // the last one that went into a batch
  bool out_of_memory_ = false;  // the plan is lost: each reader finds its blocks
  Counts counts_;
  BlockRepeats repeats_;
  std::uint64_t pass_ = 0;  // pass of the samples that are planned
};

}  // namespace penstock::detail::runtime
