// SPDX-License-Identifier: Apache-2.0
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

/// A plan of blocks looks at least this many records ahead.
inline constexpr std::uint64_t min_records_in_sight = 4096;

/// Numbers of runners that load blocks: at first, and the most later.
struct BlockRunners {
  unsigned first, most;
};

/// Blocks for the samples of a run. Turns the plan into work and memory.
///
/// Loads get memory in the order of samples, each as soon as there is some. A later block gets memory only after
/// earlier samples have released theirs. So the oldest unmade sample waits only for loads that can begin.
class BlockSchedule {
 public:
  using Feed = BlockPlan::Feed;
  using Work = BlockQueue::Work;

  /// `in_flight`: the most samples that are issued and not made. `destination_bytes`: see BlockPlan. `option`: name of
  /// the user's option that sets the limit.
  BlockSchedule(const BlockModel& model, std::size_t limit_bytes, std::uint64_t lookahead, std::size_t in_flight,
                BlockRunners runners, MemoryResource& memory, std::vector<std::size_t> destination_bytes = {},
                const char* option = "max_block_bytes");
  BlockSchedule(const BlockSchedule&) = delete;
  BlockSchedule& operator=(const BlockSchedule&) = delete;
  ~BlockSchedule();

  /// Starts again and keeps the blocks. Call only while nothing is being processed.
  void reset(Feed feed);

  // -- the thread that issues --
  /// Asks the feed and the source for the needs of the next `count` samples of the feed and of the samples after them.
  void prepare(std::uint64_t count) noexcept { plan_.prepare(count); }
  /// Issues the samples of a batch, from number `first` on, which are the next in order. The first `of_feed` are the
  /// feed's; the others need no block. `pass`: their pass over the data.
  void issue(std::uint64_t first, std::uint64_t of_feed, std::uint64_t count, std::uint64_t pass = 0) noexcept;

  // -- any thread --
  /// Raises the memory limit. REQUIRES: `bytes` is not below the present limit. The first limit still decides which
  /// records are too large.
  void raise_limit(std::size_t bytes) noexcept;
  /// Returns a runner's next piece of work. Prefers the stretch of samples that the runner holds; sets `held` (see
  /// WorkStretches::choose).
  Work take(std::uint64_t& held) noexcept;
  /// Gives up the runner's stretch.
  void leave(std::uint64_t& held) noexcept;
  /// Returns why there is nothing to do; none if no sample waits for a block.
  std::optional<Idle> why_idle() const noexcept;
  bool available() const noexcept { return available_.load(std::memory_order_seq_cst); }
  /// Loads a block. `destination`: its rows in the batch, if it goes there. Returns whether there is more to do than
  /// before.
  bool load(std::shared_ptr<Residency> load, std::byte* destination = nullptr) noexcept;
  /// Sets `out` to the blocks of a sample being made, record `index`, in their order; a block that it does without is
  /// empty. Returns false if they were not planned; then its reader finds them. @throws Error of a block that could not
  /// be loaded.
  bool blocks_of(std::uint64_t sample, std::uint64_t index, std::vector<std::span<const std::byte>>& out);
  /// Reports that a sample is made. Returns whether there is more to do than before.
  bool done(std::uint64_t sample) noexcept;

  struct Counts {
    std::uint64_t loads = 0, uses = 0;
    std::uint64_t again = 0;            ///< about how many loads were of blocks already loaded in the same pass
    std::uint64_t saved_by_double = 0;  ///< about how many loads twice the memory would have avoided
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
  const std::size_t record_limit_;  // most bytes that one record may need
  BlockPlan plan_;                  // the issuing thread's
  BlockPlan::Sample next_;          // kept to reuse its memory
  mutable std::mutex mutex_;
  std::atomic<bool> available_{false};
  std::atomic<bool> lacks_memory_{false};  // the next load may not begin
  std::atomic<std::uint64_t> in_load_{0};  // blocks
  // Under the mutex, like the residencies:
  BlockQueue queue_;
  BlockMemory memory_;
  std::size_t not_begun_ = 0;  // bytes that are reserved for loads that have not begun
  std::unordered_map<std::uint64_t, std::shared_ptr<Residency>> held_;  // blocks that the plan has in memory, by number
  std::shared_ptr<Residency> in_batch_;                                 // the last one that went into a batch
  bool out_of_memory_ = false;  // the plan is lost; each reader finds its blocks by itself
  Counts counts_;
  BlockRepeats repeats_;
  std::uint64_t pass_ = 0;  // pass of the planned samples
};

}  // namespace penstock::detail::runtime
