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
#include "ring/batch_stages.hpp"
#include "ring/run_setup.hpp"

namespace penstock::detail::runtime {

/// A run: its ring of batches, and the placement that fills the batches. One consumer takes the batches in order.
/// Batches that outlive the loader keep the engine alive.
class Engine final {
 public:
  /// `executor` must live until `close` returns.
  Engine(RunSetup setup, Executor::Impl& executor);
  ~Engine();

  // -- the consumer's thread --
  /// Discards all batches that were not leased, and starts to issue at `cursor`. `count`: what the run counted before.
  /// Waits for work in progress: samples, a call of the order, a reader that is being opened.
  void seek(Cursor cursor, const QuotaCount& count = {});
  /// Waits until the next batch is ready and returns its buffer. Returns null after `stop` or `interrupt`. If the end
  /// of epoch `epoch` depends on the samples, also returns null at that end.
  /// @throws LeasesExhausted if the caller holds all batches; an order's failure, after the batches before the failure;
  /// the error of a reader if no reader can be opened.
  BatchBuffer* wait(std::uint64_t epoch);
  /// Returns the counts that the epoch's last batch did not report. Returns none if the end is not known yet, a batch
  /// of the epoch is not delivered yet, or the run is stopped. Always returns none if the batches report all counts.
  std::optional<EpochEnd> take_epoch_end(std::uint64_t epoch) { return placement_->take_epoch_end(epoch); }
  /// Leases the buffer that `wait` returned. The next `wait` returns the next batch.
  void lease(BatchBuffer& buffer);
  /// Continues with new settings. The number of entries changes with the next `seek`. Each setting must be between the
  /// plan's `first` and `most`; fewer runners are allowed too. Call only from the thread of the loader's caller.
  /// @throws whatever the resources throw. After an exception the run continues as before, and `trim` frees what was
  /// allocated.
  void change(const TunedSettings& settings);
  /// Frees the memory that `change` replaced. Returns false if a part of this memory is still in use. Call from the
  /// thread that calls `change`.
  bool trim() noexcept;
  /// Returns the settings of the last `change`, or the plan's `first`. The settings include the new number of entries,
  /// even if it is used only from the next `seek` on. Call from the thread that calls `change`.
  const TunedSettings& settings() const noexcept { return settings_; }
  /// Stops, waits for work in progress, and frees everything except the ring.
  void close() noexcept;

  // -- any thread --
  void release(BatchBuffer& buffer) noexcept;
  void stop() noexcept;
  /// Makes `wait` return null. Nothing is issued before the next `seek`.
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
  BatchStages batch_stages_;
  std::unique_ptr<Placement> placement_;  ///< null after `close`
  Executor::Impl& executor_;
  TunedSettings settings_;
  bool waited_ = false;  ///< `wait` was called at least once; used only by the consumer
};

}  // namespace penstock::detail::runtime
