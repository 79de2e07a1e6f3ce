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

/// What is reckoned for the part of a row whose size its sample tells.
inline constexpr std::size_t appended_row_bytes = 1u << 14;

/// The work of a reordered pipeline's runners. Any of them does whatever there is to do: issues positions, reads a
/// stream, opens shared records, makes samples, retires them. What only one may do at a time is guarded by a flag; the
/// runner that lets go of it, or changes what others wait for, looks once more for itself.
class Reordered {
 public:
  /// All of these outlive it. `blocks`: null where records share none. `order_lane`: where a timeline shows that the
  /// order is asked; null: none is kept.
  Reordered(const RunSetup& setup, const Chain& chain, std::stop_token stop, BlockSchedule* blocks,
            const BatchRing& ring, BatchOutlet& outlet, ThreadSignals& signals, TraceLine* order_lane);

  /// Bytes of an entry's row, as `max_reorder_bytes` counts them.
  static std::size_t entry_bytes(const PipelineData& data);
  /// How many entries, and shared records, a pipeline wants.
  static std::size_t entries_for(const PipelineData& data, std::size_t max_reorder_bytes, unsigned threads);
  static std::size_t shared_records_for(const PipelineData& data, unsigned threads);
  static std::size_t min_shared_record_bytes(const PipelineData& data);

  /// Takes memory for so many entries, which there are from the next `reset` on. Without the lock; one thread, which
  /// also lets go of what there was before. @throws what the resource throws.
  void prepare_entries(std::size_t entries) {
    resizes_.store(false, std::memory_order_relaxed);
    buffer_.prepare(entries);
    resizes_.store(entries != buffer_.size(), std::memory_order_relaxed);
  }
  /// Frees what the last `reset` replaced. False: there is to be one.
  bool free_replaced() noexcept {
    if (resizes_.load(std::memory_order_relaxed)) return false;
    buffer_.free_replaced();
    return true;
  }
  /// So many runners are there from now on. Any thread.
  void set_threads(unsigned threads) noexcept { threads_.store(threads, std::memory_order_relaxed); }
  /// Begins at `cursor`. Only while nothing is in work.
  void reset(const Cursor& cursor, const QuotaCount& count);
  /// There is something for a runner to do. Any thread.
  bool has_work() noexcept;
  /// Why there is nothing, while batches have room; none where nothing more comes. Any thread.
  std::optional<Idle> why_idle() noexcept;
  /// Does some of it. False: there was none.
  bool step(ChainRun& run) noexcept;
  /// A record waits until it is known what of it is skipped. The consumer's thread.
  bool asks() noexcept { return samples_ && samples_->asks(); }
  void answer() noexcept { samples_->answer(); }
  /// The buffer being filled, if any. Only while nothing is in work.
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
  TraceLine* const order_lane_;
  const bool advises_;
  std::atomic<unsigned> threads_;
  std::atomic<bool> resizes_{false};  // other entries are prepared
  ReorderBuffer buffer_;
  std::optional<SharedRecords> records_;  // where samples share them
  Tickets tickets_, to_open_;             // entries, and shared records, that are to be made
  SampleMaker maker_;
  IssueProgress issue_progress_;
  std::optional<RecordSamples> samples_;  // gives the samples of shared records their entries
  std::optional<PositionIssuer> issuer_;  // one of these two brings what is to be made
  std::optional<StreamReader> reader_;
  // The runner that retires also gives the samples of shared records their entries.
  alignas(64) std::atomic<bool> retiring_{false};
};

}  // namespace penstock::detail::runtime
