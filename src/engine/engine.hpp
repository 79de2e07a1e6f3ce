#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include <penstock/error.hpp>
#include <penstock/memory.hpp>

#include "base/executor_impl.hpp"
#include "base/failure.hpp"
#include "blocks/block_schedule.hpp"
#include "chain/chain.hpp"
#include "pipeline/pipeline_data.hpp"
#include "reorder/reordered.hpp"
#include "ring/batch_ring.hpp"
#include "ring/leases_exhausted.hpp"
#include "ring/tickets.hpp"

namespace penstock::detail {

/// So long a runner goes on while others wait for its thread.
inline constexpr std::uint64_t turn_ns = std::chrono::nanoseconds(Executor::Impl::turn).count();

struct EngineOptions {
  unsigned threads = 1;
  unsigned depth = 4;
  std::size_t scratch_limit = 0;
  std::size_t buffer_limit = ~std::size_t{0}, entry_limit = ~std::size_t{0};  ///< bytes for fields of any size
  std::uint64_t epochs = 0;                                                   ///< 0 = no end
  std::size_t entries = 0;  ///< of a reordered pipeline: samples in work, and records they share
  std::size_t shared_records = 0;
  std::size_t shared_record_limit = 0;
  std::size_t block_limit = 0;  ///< bytes for blocks that records share
  MemoryResource* memory = nullptr;
  MemoryResource* buffer_memory = nullptr;  ///< where fields of fixed sizes lie; null: `memory`
  bool keeps_places = false;                ///< of rows of a reordered pipeline
  RecordSkips* skips = nullptr;             ///< asked inside wait()
};

/// What a loader and its runners share: tickets, ring, and the runners' working state.
///
/// Batches are admitted by the thread that lets one go, or asks for the first, and taken in order by the consumer's.
/// Runners take tickets without the mutex, and need it only to begin, to leave, and to wake a waiting consumer. Batches
/// that outlive the loader keep this alive.
///
/// A reordered pipeline's runners find their work in `Reordered`; here are the threads, the ring, and the consumer.
class Engine final : private ReorderedHost {
 public:
  /// `executor` must live until close() has returned.
  Engine(std::shared_ptr<const PipelineData> data, const EngineOptions& options, Executor::Impl& executor);

  // -- the consumer's thread --
  /// Gives up all that is unread and begins issuing at `cursor`, before which the run counted so much. Waits for what
  /// is in work: samples, an order that is asked, a reader that is opened.
  void seek(Cursor cursor, const QuotaCount& count = {});
  /// The buffer of the next batch, once it is ready; null after a stop or `interrupt`, and, where only the samples
  /// tell, at the end of the epoch (that which `epoch` is). @throws LeasesExhausted, or what ended the engine: an
  /// order's failure after the batches that came before it, or that no reader can be opened.
  BatchBuffer* wait(std::uint64_t epoch);
  /// Takes note that the epoch ended: what its last batch did not tell. None: it has not, or a batch comes first.
  std::optional<EpochEnd> take_epoch_end(std::uint64_t epoch);
  /// Leases the buffer that wait() gave, and moves on.
  void lease(BatchBuffer& buffer);
  void close() noexcept;
  bool started() const noexcept { return started_; }

  // -- any thread --
  void release(BatchBuffer& buffer) noexcept;
  void stop() noexcept;
  /// Wakes wait(), which returns null; nothing is issued before the next `seek`.
  void interrupt() noexcept;
  bool stopped() const noexcept { return stopped_.load(std::memory_order_relaxed); }
  BatchRing& ring() noexcept { return ring_; }
  const BatchRing& ring() const noexcept { return ring_; }
  const Chain& chain() const noexcept { return chain_; }
  const PipelineData& data() const noexcept { return *data_; }
  unsigned threads() const noexcept { return options_.threads; }

  /// Sums over all runners, for the report.
  struct Totals {
    struct StepTotals {
      std::uint64_t cpu_ns = 0, bytes = 0, wait_ns = 0;
    };
    std::vector<StepTotals> steps;
    std::uint64_t samples = 0, copied_bytes = 0, busy_ns = 0, helped = 0;
    std::uint64_t recalled = 0;  ///< that a cache had
    std::uint64_t measured = 0, stood_for = 0, wall_ns = 0;
    std::uint64_t parents = 0, parents_stood_for = 0, reads = 0, reads_stood_for = 0;
    std::uint64_t delay_ns = 0, delay_measured_ns = 0;  ///< of the runners, for a core; and the time that this was in
    std::uint64_t kept = 0;                             ///< samples that have a row, or will
    std::size_t buffer_bytes = 0;
    BlockSchedule::Counts blocks;
    std::size_t entries = 0, entry_bytes = 0, shared_records = 0, shared_record_bytes = 0;
    unsigned threads_seen = 0;
    std::size_t readers = 0;
    std::string reader_error;       ///< why there are no more of them
    std::size_t scratch_bytes = 0;  ///< the most of any runner
  };
  Totals totals() const;

 private:
  using Lock = std::unique_lock<std::mutex>;

  void admit(Lock& lock) noexcept;
  void prepare(BatchBuffer& buffer);
  void wake(Lock& lock) noexcept;
  bool submit_runner() noexcept;
  std::size_t most_runners() const noexcept;
  void runner_main(Lock& lock) noexcept;
  bool has_work() noexcept;
  bool work_reordered(ChainRun& run) noexcept;
  BatchBuffer* wait_reordered(std::uint64_t epoch);
  bool epoch_over(std::uint64_t epoch) noexcept;
  LeasesExhausted leases_exhausted() const;

  // While all runners run there is nothing to do but wait. Where threads are short (an application's own limit, a busy
  // shared executor, a single worker that waits here itself) the consumer's thread makes samples too.
  void sleep_or_help(Lock& lock, const auto& ready) {
    using namespace std::chrono_literals;
    if (running_ >= most_runners()) {
      changed_.wait(lock);  // a runner that leaves wakes it as well
      return;
    }
    if (changed_.wait_for(lock, 1ms) != std::cv_status::timeout) return;
    if (running_ >= most_runners() || !has_work()) return;
    do {
      help(lock);  // while no runner comes at all, without waiting in between
    } while (!ready() && !paused() && !failed_ && running_ == 0 && has_work());
  }

  // -- what a reordered pipeline tells --
  BatchBuffer* open_batch() noexcept override;
  void close_batch(BatchBuffer& buffer) noexcept override;
  void discard_batch(BatchBuffer& buffer) noexcept override;
  bool has_room_for_end() noexcept override;
  void end_epoch(EpochEnd end) noexcept override;
  void wake_runners() noexcept override;
  void wake_consumer() noexcept override;
  void finish_parts(BatchBuffer& buffer, std::uint32_t parts) noexcept override;
  // Relaxed: a runner that sees it late makes one sample more, which `seek` waits for under the mutex. And the consumer
  // can't see it late where it matters: a sample that was cut short saw the stop, which was requested after the store,
  // and was then counted off its buffer (acquire, release); whichever thread finds that buffer ready sees the store.
  bool paused() const noexcept override { return paused_.load(std::memory_order_relaxed); }

  // -- a directly placed one --
  bool work_directly(ChainRun& run) noexcept;
  void help_directly(ChainRun& run) noexcept;
  bool work_in_blocks(ChainRun& run) noexcept;
  bool step_in_blocks(ChainRun& run) noexcept;
  std::vector<std::size_t> place_bytes() const;
  std::byte* place_of(const Residency& load) const noexcept;
  BlockSchedule::Feed feed(Cursor at) const;
  bool advise() noexcept;
  bool has_direct_work() const noexcept;
  bool advice_waits() const noexcept;
  bool make_samples(ChainRun& run, BatchBuffer& buffer, TicketRun tickets) noexcept;
  void fill_row(ChainRun& run, BatchBuffer& buffer, std::uint64_t row, std::uint64_t ticket);
  void note_varying(const ChainRun& run, BatchBuffer& buffer, std::uint64_t row) noexcept;
  void fail_row(BatchBuffer& buffer, std::uint64_t row, Error error, bool fatal);
  void help(Lock& lock);
  ChainRun* lease_run(Lock& lock) noexcept;
  BatchBuffer& buffer_of(std::uint64_t ordinal) const noexcept { return *by_ordinal_[ordinal % by_ordinal_.size()]; }

  /// How tasks come in. They hold the door, not the engine, so that none keeps it, or what it was given, beyond
  /// close().
  struct Door {
    std::mutex mutex;
    Engine* engine;
  };

  std::shared_ptr<Door> door_;
  std::shared_ptr<const PipelineData> data_;
  Chain chain_;
  EngineOptions options_;
  Executor::Impl* executor_;
  BatchRing ring_;
  std::uint64_t rows_;  ///< of a batch, the most this rank has
  std::uint64_t steps_;
  Tickets tickets_;
  bool advises_;
  std::stop_source stop_source_;
  std::unique_ptr<BlockSchedule> blocks_;  ///< where records share some
  std::unique_ptr<Reordered> reordered_;   ///< null: placed directly

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<BatchBuffer*> by_ordinal_;  ///< of admitted batches that are not delivered
  std::atomic<std::uint64_t> admitted_{0};
  std::atomic<std::uint64_t> advised_{0};
  std::uint64_t delivered_ = 0;
  std::size_t leased_ = 0;
  Cursor cursor_;               ///< of the next batch to admit
  std::vector<EpochEnd> ends_;  ///< of a reordered pipeline, oldest first; never more than there are buffers
  std::vector<std::unique_ptr<ChainRun>> runs_;
  std::vector<ChainRun*> idle_runs_;
  unsigned scheduled_ = 0, threads_seen_ = 0;
  unsigned running_ = 0, runners_ = 0;      ///< running: runners, also without a reader yet, and the consumer's help
  unsigned opening_ = 0;                    ///< those of the running that open a reader
  std::uint64_t busy_ns_ = 0, helped_ = 0;  ///< busy_ns_ less the beginning of each runner now running (wraps)
  std::atomic<bool> paused_{true};
  std::atomic<bool> stopped_{false};
  // Set in a total order with the states of buffers, so that either the consumer sees a buffer ready, or the runner
  // that made it ready sees the consumer waiting. Cleared relaxed: a runner that sees that late wakes nobody.
  std::atomic<bool> waiting_{false};
  const bool may_spin_;
  bool started_ = false, closed_ = false, admitting_ = false;
  bool no_more_readers_ = false;       ///< one could not be opened; those there are do the work
  std::optional<Error> reader_error_;  ///< why
  bool failed_ = false;                ///< there is none at all
  std::optional<Error> order_error_;   ///< comes after the batches that are admitted
  Error spare_ = no_memory();          ///< made while there is some
};

}  // namespace penstock::detail
