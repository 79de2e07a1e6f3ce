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

#include "blocks/block_announcements.hpp"
#include "blocks/block_memory.hpp"
#include "blocks/block_plan.hpp"
#include "blocks/block_queue.hpp"
#include "blocks/block_repeats.hpp"

namespace penstock::detail::runtime {

/// A plan of blocks may look this many records ahead. If the number of samples in flight may be larger, the plan may
/// look that many records ahead.
inline constexpr std::uint64_t min_records_in_sight = 4096;

/// Numbers of runners that load blocks. `first`: at the start of the run. `most`: the largest number during the run.
struct BlockRunners {
  unsigned first, most;
};

/// Holds the blocks for the samples of a run. Makes a BlockPlan, and turns the plan into work for runners.
///
/// Loads get memory in the order of samples, each as soon as there is enough. A later load never gets memory before an
/// earlier load. So the oldest unmade sample waits only for loads that can begin.
class BlockSchedule {
 public:
  using Feed = BlockPlan::Feed;
  using Work = BlockQueue::Work;

  /// Offers a quarter of the memory to the source. `in_flight`: the most samples that are issued and not made.
  /// `lookahead`, `destination_bytes`: see BlockPlan. `option`: name of the user's option that sets `limit_bytes`.
  BlockSchedule(const BlockModel& model, std::size_t limit_bytes, std::uint64_t lookahead, std::size_t in_flight,
                BlockRunners runners, MemoryResource& memory, std::vector<std::size_t> destination_bytes = {},
                const char* option = "max_block_bytes");
  BlockSchedule(const BlockSchedule&) = delete;
  BlockSchedule& operator=(const BlockSchedule&) = delete;
  ~BlockSchedule();

  /// Starts again and keeps the loaded blocks. Call only while no sample or block is being worked on.
  void reset(Feed feed);

  // -- for the thread that issues --
  /// Prepares to issue the next `count` samples of the feed: fetches these samples and asks the source which blocks
  /// they need. Also fetches samples after these, to look ahead.
  void prepare(std::uint64_t count) noexcept;
  /// Issues the next `count` samples. Their numbers begin at `first`. The first `of_feed` samples come from the feed.
  /// The other samples need no block. `pass`: the samples' pass over the data. REQUIRES: if blocks may be decoded into
  /// the batch, the samples belong to one batch.
  void issue(std::uint64_t first, std::uint64_t of_feed, std::uint64_t count, std::uint64_t pass = 0) noexcept;

  // -- any thread --
  /// Raises the memory limit. REQUIRES: `bytes` is not below the present limit. What the constructor's limit left for
  /// records still decides which records are too large.
  void raise_limit(std::size_t bytes) noexcept;
  /// Returns a runner's next piece of work. `held`: see WorkStretches::choose.
  Work take(std::uint64_t& held) noexcept;
  /// Gives up the runner's stretch.
  void leave(std::uint64_t& held) noexcept;
  /// Returns why there is no work. Returns nothing unless a load lacks memory or a block is being loaded.
  std::optional<Idle> why_idle() const noexcept;
  bool available() const noexcept { return available_.load(std::memory_order_seq_cst); }
  /// Loads a block. `destination`: the block's rows in the batch if the block goes into a batch. Returns whether there
  /// is work to do.
  bool load(std::shared_ptr<Residency> load, std::byte* destination = nullptr) noexcept;
  /// Sets `out` to the blocks of a sample that is being made from record `index`, in the record's order. If the record
  /// can do without a block that is not in memory, the block's span is empty. Returns false if no blocks were planned
  /// for this record, so that the reader must load them itself. @throws the Error of a block that could not be loaded,
  /// Error(limit_exceeded) if the record needs more bytes than the constructor's limit, std::bad_alloc.
  bool blocks_of(std::uint64_t sample, std::uint64_t index, std::vector<std::span<const std::byte>>& out);
  /// Reports that a sample was made. Returns whether further loads may begin.
  bool done(std::uint64_t sample) noexcept;

  struct Counts {
    std::uint64_t loads = 0, uses = 0;
    std::uint64_t again = 0;  ///< about how many loads were of blocks that were already loaded in the same pass
    std::uint64_t saved_by_double = 0;  ///< about how many loads would not have been needed with twice the memory
    std::size_t peak_bytes = 0;
    std::size_t taken_bytes = 0;  ///< memory for blocks that the source has taken
  };
  Counts counts() const;

 private:
  std::unique_lock<std::mutex> lock_awake() noexcept;
  void plan_next(std::uint64_t samples) noexcept;
  void note_plan(BlockPlan::SamplePlan& next, std::uint64_t sample) noexcept;
  void follow(const BlockPlan::SamplePlan& next, std::uint64_t number);
  void release(const auto& unwanted) noexcept;
  std::shared_ptr<Residency> add_load(const BlockPlan::Need& need, std::uint64_t number, std::uint64_t index,
                                      bool in_batch);
  void drop(std::shared_ptr<Residency>& residency) noexcept;
  void give_back_lent() noexcept;
  bool update() noexcept;

  const BlockModel& model_;
  const char* const option_;
  const MemoryAhead taken_;         // a part of the memory, for what the source fetches ahead
  const std::size_t record_limit_;  // most bytes that one record may need
  std::atomic<std::size_t> plan_limit_;
  // Used by the thread that issues. Exception: `announcements_.loaded`, under the mutex.
  BlockPlan plan_;
  std::vector<BlockPlan::SamplePlan> plans_;  // of the samples that are issued next; kept to reuse their memory
  std::uint64_t planned_ = 0;                 // number of these samples
  bool plan_failed_ = false;                  // memory ran out
  BlockAnnouncements announcements_;
  mutable std::mutex mutex_;
  std::atomic<bool> available_{false};
  std::atomic<bool> lacks_memory_{false};  // the next load may not begin, for lack of memory
  std::atomic<std::uint64_t> in_load_{0};  // number of blocks that are being loaded
  // Guarded by the mutex, like the residencies:
  BlockQueue queue_;
  BlockMemory memory_;
  // Memory of the source that is not used any more. The next load gives it back.
  std::vector<std::shared_ptr<const std::byte>> lent_;
  std::size_t not_begun_ = 0;  // bytes that are reserved for loads that have not begun
  // The blocks that are in memory after the last planned sample, by number.
  std::unordered_map<std::uint64_t, std::shared_ptr<Residency>> held_;
  std::shared_ptr<Residency> in_batch_;  // the last block that went into a batch
  bool out_of_memory_ = false;           // memory ran out while planning, so each reader loads its blocks by itself
  Counts counts_;
  BlockRepeats repeats_;
  std::uint64_t pass_ = 0;  // pass of the planned samples
};

}  // namespace penstock::detail::runtime
