// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>

#include "blocks/block_schedule.hpp"
#include "chain/chain.hpp"
#include "engine/batch_queue.hpp"
#include "engine/idle_time.hpp"
#include "engine/monitor.hpp"
#include "engine/pool_work.hpp"
#include "engine/run_totals.hpp"
#include "engine/runner_pool.hpp"
#include "reorder/reorder_buffer.hpp"
#include "ring/batch_ring.hpp"
#include "ring/leases_exhausted.hpp"
#include "ring/run_setup.hpp"

namespace penstock::detail::runtime {

/// How samples get to their rows. There are two ways. DirectPlacement makes each sample in its row. ReorderedPlacement
/// makes a sample in an entry, because the sample's row is known only when all samples before it are finished.
///
/// A placement issues work when buffers become free, and its runners do the work. It admits batches to the queue in
/// order. A batch becomes ready when all its parts are done.
class Placement : public PoolWork {
 public:
  using Lock = Monitor::Lock;

  /// Parts of the engine, which outlives its placement.
  struct Context {
    const RunSetup& setup;
    const Chain& chain;
    BatchRing& ring;
    BatchQueue& queue;
    Monitor& monitor;
    Executor::Impl& executor;
    std::stop_token stop;
  };

  explicit Placement(const Context& context);

  RunnerPool& pool() noexcept { return pool_; }
  std::unique_ptr<ChainRun> open_run() final;

  // -- under the mutex --
  /// Makes `admit` issue from `cursor` on. `count`: what the run counted before. Call only while no runner works.
  virtual void begin(const Cursor& cursor, const QuotaCount& count) = 0;
  /// Issues work for free buffers. Call after `begin`, and after a buffer became free. May release the mutex for a
  /// time.
  virtual void admit(Lock& lock) noexcept = 0;
  /// Returns whether a thread is in `admit` and has released the mutex.
  virtual bool admitting() const noexcept { return false; }
  virtual void add_to(RunTotals& totals) const = 0;
  /// Raises the memory limit for blocks. REQUIRES: `bytes` is not below the present limit.
  void raise_block_limit(std::size_t bytes) noexcept {
    if (blocks_ != nullptr) blocks_->raise_limit(bytes);
  }
  /// Sets the number of runners.
  virtual void set_threads(Lock& lock, unsigned threads) noexcept {
    pool_.set_threads(lock, threads);
    note_idle();
  }
  /// Updates the idle times. Call after the number of idle runners, or what they wait for, may have changed. `now`: the
  /// time; 0: the clock is read.
  void note_idle(std::uint64_t now = 0) noexcept;
  void runners_changed(std::uint64_t now) noexcept final { note_idle(now); }
  IdleTime& idle() noexcept { return idle_; }

  // -- without the mutex, one thread --
  /// Allocates memory for a new number of entries, if the placement has entries. The number changes with the next
  /// `begin`. @throws whatever the resource throws.
  virtual void prepare_entries(std::size_t) {}
  /// Frees the entries that `begin` replaced. Returns false if prepared entries still wait for a `begin`.
  virtual bool free_replaced() noexcept { return true; }

  // -- the consumer's thread --
  /// Waits until the first batch of the queue is ready and returns it. Returns null if the run is paused. If the end of
  /// epoch `epoch` depends on the samples, also returns null at that end.
  /// @throws LeasesExhausted if the caller holds all batches; an order's failure, after the batches before the failure;
  /// the error of a reader if no reader can be opened.
  virtual BatchBuffer* wait(std::uint64_t epoch) = 0;
  /// Returns the counts that the epoch's last batch did not report. Returns none if the end is not known yet, a batch
  /// of the epoch is not delivered yet, or the run is stopped. Always returns none if the batches report all counts.
  virtual std::optional<EpochEnd> take_epoch_end(std::uint64_t) { return std::nullopt; }

 protected:
  /// Notes that `parts` more parts of the batch are done. Any runner and the consumer may call this.
  void finish(BatchBuffer& buffer, std::uint32_t parts) noexcept {
    if (BatchRing::count_down(buffer, parts)) publish(buffer);
  }
  /// Makes a batch ready whose parts are all done. May call functions of `map_batches`.
  void publish(BatchBuffer& buffer) noexcept;
  LeasesExhausted leases_exhausted() const;
  /// Returns why a runner has nothing to do; none if nothing will be issued any more. Called under the mutex.
  virtual std::optional<Idle> why_idle() noexcept = 0;
  /// Returns why a runner has nothing to do. REQUIRES: no buffer is free, and the admitted batches have no work left.
  Idle why_no_batch() const noexcept;
  /// Starts runners up to their limit, unless the run is paused or closed. Any runner and the consumer may call this.
  void wake_pool() noexcept;

  const RunSetup& setup_;
  const PipelineData& data_;
  const Chain& chain_;
  BatchRing& ring_;
  BatchQueue& queue_;
  Monitor& monitor_;
  Executor::Impl& executor_;
  const std::stop_token stop_;
  const std::uint64_t rows_;               ///< most rows of this rank in a batch
  std::unique_ptr<BlockSchedule> blocks_;  ///< blocks that records share; null: records share no blocks
  TraceLine* order_line_ = nullptr;        ///< line of the timeline for calls of the order; null: no timeline is kept

 private:
  RunnerPool pool_;
  IdleTime idle_;
};

}  // namespace penstock::detail::runtime
