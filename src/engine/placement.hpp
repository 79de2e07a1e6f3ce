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

/// How samples come to their rows. There are two ways: each is made in its row (DirectPlacement), or it is made
/// somewhere else and its row is known when those before it are finished (ReorderedPlacement).
///
/// A placement issues work as batches become free, has its runners do it, and has batches admitted to the queue, in
/// order, which become ready when all of their rows are made.
class Placement : public PoolWork {
 public:
  using Lock = Monitor::Lock;

  /// The engine's, which outlives its placement.
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
  /// Issues work from `cursor` on, before which the run counted so much. While nothing is in work.
  virtual void begin(const Cursor& cursor, const QuotaCount& count) = 0;
  /// There is a free buffer, or a paused run goes on. May let the mutex go meanwhile.
  virtual void admit(Lock& lock) noexcept = 0;
  /// A thread is in `admit` and has let the mutex go.
  virtual bool admitting() const noexcept { return false; }
  virtual void add_to(RunTotals& totals) const = 0;
  /// As many bytes for blocks from now on, which are no fewer than before.
  void raise_block_limit(std::size_t bytes) noexcept {
    if (blocks_ != nullptr) blocks_->raise_limit(bytes);
  }
  /// So many runners from now on.
  virtual void set_threads(Lock& lock, unsigned threads) noexcept {
    pool_.set_threads(lock, threads);
    note_idle();
  }
  /// What runners have to do, or what they wait for, may have changed, at `now`; 0: now.
  void note_idle(std::uint64_t now = 0) noexcept;
  void runners_changed(std::uint64_t now) noexcept final { note_idle(now); }
  IdleTime& idle() noexcept { return idle_; }

  // -- without the mutex, one thread --
  /// Takes memory for so many samples in work, where they wait for older ones; they are that many from the next `begin`
  /// on. @throws what the resource throws.
  virtual void prepare_entries(std::size_t) {}
  /// Frees what `begin` replaced. False: it is still to do so.
  virtual bool free_replaced() noexcept { return true; }

  // -- the consumer's thread --
  /// The first batch of the queue, once it is ready; null where the run is paused, and, where only the samples tell, at
  /// the end of the epoch (that which `epoch` is).
  /// @throws LeasesExhausted, an order's failure after the batches before it, or that no reader can be opened.
  virtual BatchBuffer* wait(std::uint64_t epoch) = 0;
  /// What the epoch's last batch did not tell. None: it has not ended, a batch comes first, or batches tell all.
  virtual std::optional<EpochEnd> take_epoch_end(std::uint64_t) { return std::nullopt; }

 protected:
  /// Notes that `parts` more of the buffer's parts are done. Any runner.
  void finish(BatchBuffer& buffer, std::uint32_t parts) noexcept;
  LeasesExhausted leases_exhausted() const;
  /// Why a runner finds nothing to do, while the next batch isn't ready; none where nothing is to be issued any more.
  /// Under the mutex.
  virtual std::optional<Idle> why_idle() noexcept = 0;
  /// The same, where it is the batches in work that have nothing left to do.
  Idle why_no_batch() const noexcept;
  /// Lets runners come where there is new work. Any runner, and the consumer.
  void wake_pool() noexcept;

  const RunSetup& setup_;
  const PipelineData& data_;
  const Chain& chain_;
  BatchRing& ring_;
  BatchQueue& queue_;
  Monitor& monitor_;
  Executor::Impl& executor_;
  const std::stop_token stop_;
  const std::uint64_t rows_;               ///< rows of a batch, the most that this rank has
  std::unique_ptr<BlockSchedule> blocks_;  ///< null: records share none
  TraceLine* order_lane_ = nullptr;        ///< where the timeline shows that the order is asked; null: none is kept

 private:
  RunnerPool pool_;
  IdleTime idle_;
};

}  // namespace penstock::detail::runtime
