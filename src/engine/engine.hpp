// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>

#include "base/executor_impl.hpp"
#include "chain/chain.hpp"
#include "data/cursor.hpp"
#include "engine/batch_queue.hpp"
#include "engine/monitor.hpp"
#include "engine/placement.hpp"
#include "engine/run_totals.hpp"
#include "pipeline/pipeline_data.hpp"
#include "ring/batch_ring.hpp"
#include "ring/run_setup.hpp"

namespace penstock::detail::runtime {

/// A run: its ring of batches, the placement that fills them, and the one consumer that takes them in order. Batches
/// that outlive the loader keep the run alive.
class Engine final {
 public:
  /// `executor` must live until close() returns.
  Engine(RunSetup setup, Executor::Impl& executor);
  ~Engine();

  // -- the consumer's thread --
  /// Discards everything unread and starts to issue at `cursor`. `count`: what the run counted before. Waits for work
  /// in progress: samples, a call of the order, a reader that is being opened.
  void seek(Cursor cursor, const QuotaCount& count = {});
  /// Returns the buffer of the next batch, once it is ready. Returns null after a stop or `interrupt`. If only the
  /// samples determine the end of epoch `epoch`, it also returns null at that end.
  /// @throws LeasesExhausted, or the error that ended the engine: an order's failure after the batches before it, or
  /// that no reader can be opened.
  BatchBuffer* wait(std::uint64_t epoch);
  /// Returns what the epoch's last batch did not report, if the epoch has ended. None: it has not, or a batch comes
  /// first.
  std::optional<EpochEnd> take_epoch_end(std::uint64_t epoch) { return placement_->take_epoch_end(epoch); }
  /// Leases the buffer that wait() returned, and moves on.
  void lease(BatchBuffer& buffer);
  /// Continues with new settings, which must be between those of the plan. The number of entries changes with the next
  /// `seek`. Call from the thread of the loader's caller only. @throws what the resources throw; then the run continues
  /// as before, and `trim` frees what was allocated.
  void change(const TunedSettings& settings);
  /// Frees the memory that a change replaced. Returns false if some of it is still in use. Same thread as `change`.
  bool trim() noexcept;
  /// Returns the present settings, including those that begin with the next `seek`. Same thread as `change`.
  const TunedSettings& settings() const noexcept { return settings_; }
  /// Waits for work in progress, then frees everything except the ring.
  void close() noexcept;

  // -- any thread --
  void release(BatchBuffer& buffer) noexcept;
  void stop() noexcept;
  /// Wakes wait(), which returns null. Nothing is issued before the next `seek`.
  void interrupt() noexcept;
  bool stopped() const noexcept { return monitor_.stopped.load(std::memory_order_relaxed); }
  BatchRing& ring() noexcept { return ring_; }
  const BatchRing& ring() const noexcept { return ring_; }
  const Chain& chain() const noexcept { return chain_; }
  const PipelineData& data() const noexcept { return *setup_.data; }
  const RunSetup& setup() const noexcept { return setup_; }
  RunTotals totals() const;

 private:
  using Lock = Monitor::Lock;

  const RunSetup setup_;
  const Chain chain_;
  mutable Monitor monitor_;
  BatchRing ring_;
  BatchQueue queue_;
  std::stop_source stop_source_;
  std::unique_ptr<Placement> placement_;  ///< null once closed
  Executor::Impl& executor_;
  TunedSettings settings_;
  bool waited_ = false;  ///< wait() had to wait for a batch at least once; only the consumer's
};

}  // namespace penstock::detail::runtime
