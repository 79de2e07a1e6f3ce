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
/// that outlive the loader keep it alive.
class Engine final {
 public:
  /// `executor` must live until close() has returned.
  Engine(RunSetup setup, Executor::Impl& executor);
  ~Engine();

  // -- the consumer's thread --
  /// Gives up all that is unread and begins issuing at `cursor`, before which the run counted so much. Waits for what
  /// is in work: samples, an order that is asked, a reader that is opened.
  void seek(Cursor cursor, const QuotaCount& count = {});
  /// The buffer of the next batch, once it is ready; null after a stop or `interrupt`, and, where only the samples
  /// tell, at the end of the epoch (that which `epoch` is). @throws LeasesExhausted, or what ended the engine: an
  /// order's failure after the batches that came before it, or that no reader can be opened.
  BatchBuffer* wait(std::uint64_t epoch);
  /// Takes note that the epoch ended: what its last batch did not tell. None: it has not, or a batch comes first.
  std::optional<EpochEnd> take_epoch_end(std::uint64_t epoch) { return placement_->take_epoch_end(epoch); }
  /// Leases the buffer that wait() gave, and moves on.
  void lease(BatchBuffer& buffer);
  /// Goes on with these settings, which are between those of the plan; another number of samples in work from the next
  /// `seek` on. One thread at a time, the loader's caller. @throws what the resources throw: the run goes on as before,
  /// and `trim` frees what was taken.
  void change(const TunedSettings& settings);
  /// Frees what was there before a change. False: some of it is still in use. That thread.
  bool trim() noexcept;
  /// Those it has, or will have from the next `seek` on. That thread.
  const TunedSettings& settings() const noexcept { return settings_; }
  /// Waits for what is in work and lets all go but the ring.
  void close() noexcept;

  // -- any thread --
  void release(BatchBuffer& buffer) noexcept;
  void stop() noexcept;
  /// Wakes wait(), which returns null; nothing is issued before the next `seek`.
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
  bool waited_ = false;  ///< for a batch, at least once; the consumer's
};

}  // namespace penstock::detail::runtime
