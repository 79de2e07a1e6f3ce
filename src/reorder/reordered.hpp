// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>

#include <penstock/report.hpp>

#include "blocks/block_schedule.hpp"
#include "chain/chain.hpp"
#include "data/cursor.hpp"
#include "pipeline/pipeline_data.hpp"
#include "reorder/issue_progress.hpp"
#include "reorder/position_issuer.hpp"
#include "reorder/record_samples.hpp"
#include "reorder/reorder_buffer.hpp"
#include "reorder/sample_maker.hpp"
#include "reorder/shared_records.hpp"
#include "reorder/stream_reader.hpp"
#include "reorder/thread_signals.hpp"
#include "ring/run_setup.hpp"
#include "ring/tickets.hpp"

namespace penstock::detail::runtime {

/// Estimated bytes per row for all fields whose rows differ in size.
inline constexpr std::size_t appended_row_bytes = 1u << 14;

/// The work of a reordered pipeline's runners. Every runner does whatever work exists: issues positions, reads a
/// stream, loads blocks, opens shared records, makes samples, or retires samples. Flags guard the kinds of work that
/// only one runner at a time may do. A runner that clears a flag, or changes what other runners wait for, then checks
/// again for work.
class ReorderedWork {
 public:
  /// All arguments must outlive this object. `blocks`: null if records share no blocks. `order_line`: line of the
  /// timeline for calls of the order; null: no timeline is kept.
  ReorderedWork(const RunSetup& setup, const Chain& chain, std::stop_token stop, BlockSchedule* blocks,
                const BatchRing& ring, BatchOutlet& outlet, ThreadSignals& signals, TraceLine* order_line);

  /// Returns the bytes of an entry, as `max_reorder_bytes` counts them.
  static std::size_t entry_bytes(const PipelineData& data);
  /// Return how many entries, and how many shared records, a run needs.
  static std::size_t entries_for(const PipelineData& data, std::size_t max_reorder_bytes, unsigned threads);
  static std::size_t shared_records_for(const PipelineData& data, unsigned threads);
  static std::size_t min_shared_record_bytes(const PipelineData& data);

  /// Allocates memory for `entries` entries, to which the next `reset` switches. The same thread must
  /// call `free_replaced`. Don't hold the run's mutex, because this function calls the user's memory resource.
  /// @throws what the resource throws.
  void prepare_entries(std::size_t entries) {
    resizes_.store(false, std::memory_order_relaxed);
    buffer_.prepare(entries);
    resizes_.store(entries != buffer_.size(), std::memory_order_relaxed);
  }
  /// Frees the memory that the last `reset` replaced. If prepared entries still wait for a `reset`, returns false and
  /// frees nothing.
  bool free_replaced() noexcept {
    if (resizes_.load(std::memory_order_relaxed)) return false;
    buffer_.free_replaced();
    return true;
  }
  /// Sets the number of runners. Any thread.
  void set_threads(unsigned threads) noexcept { threads_.store(threads, std::memory_order_relaxed); }
  /// Starts at `cursor`. Call only while no runner works.
  void reset(const Cursor& cursor, const QuotaCount& count);
  /// Returns whether a runner has something to do. Any thread.
  bool has_work() noexcept;
  /// Returns why runners have no work while batches have room. Returns nullopt if runners don't wait for
  /// blocks, and nothing more will be issued or further samples are ignored. Any thread.
  std::optional<Idle> why_idle() noexcept;
  /// Does a piece of the work. Returns false if there was no work.
  bool step(ChainRun& run) noexcept;
  /// Returns whether the next shared record is waiting for the consumer to decide which of its samples are skipped.
  /// Any thread.
  bool asks() noexcept { return samples_ && samples_->asks(); }
  /// Lets the consumer decide for all waiting records. Only the consumer calls this.
  void answer() noexcept { samples_->answer(); }
  /// Returns the buffer being filled, or null. Call only while no runner works.
  BatchBuffer* open_batch_buffer() const noexcept { return buffer_.open_batch_buffer(); }
  const ReorderBuffer& buffer() const noexcept { return buffer_; }
  std::size_t shared_records() const noexcept { return records_ ? records_->size() : 0; }

 private:
  bool tidy(const ChainRun& run) noexcept;
  bool can_tidy() noexcept { return buffer_.can_retire() || (samples_ && samples_->can_expand()); }
  bool issue(ChainRun& run) noexcept;
  PositionIssuer::Issued issue_some() noexcept;
  void announce(ChainRun& run, const PositionIssuer::Issued& issued) noexcept;
  bool read(ChainRun& run) noexcept;
  bool work_in_blocks(ChainRun& run) noexcept;
  void give_back_blocks(std::uint64_t number) noexcept;
  void make(ChainRun& run, TicketRun tickets) noexcept;
  void open(ChainRun& run, std::uint64_t number) noexcept;

  const RunSetup& setup_;
  const SourceModel& source_;
  BlockSchedule* const blocks_;
  const BatchRing& ring_;
  ThreadSignals& signals_;
  TraceLine* const order_line_;
  const bool advises_;
  std::atomic<unsigned> threads_;
  std::atomic<bool> resizes_{false};  // a different number of entries is prepared and waits for a `reset`
  ReorderBuffer buffer_;
  std::optional<SharedRecords> records_;  // set if samples share records
  Tickets tickets_, to_open_;             // tickets of entries, and of shared records, that are to be made
  SampleMaker maker_;
  IssueProgress issue_progress_;
  std::optional<RecordSamples> samples_;  // set if samples share records
  std::optional<PositionIssuer> issuer_;  // either `issuer_` is set, or `reader_` for a stream
  std::optional<StreamReader> reader_;
  // True while a runner retires entries and assigns entries to the samples of shared records. Only one runner at a time
  // does this.
  alignas(64) std::atomic<bool> retiring_{false};
};

}  // namespace penstock::detail::runtime
