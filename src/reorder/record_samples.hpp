// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "data/cursor.hpp"
#include "order/bijection.hpp"
#include "reorder/issue_progress.hpp"
#include "reorder/reorder_buffer.hpp"
#include "reorder/shared_records.hpp"
#include "reorder/thread_signals.hpp"
#include "ring/run_setup.hpp"

namespace penstock::detail::runtime {

/// Gives the samples of shared records their entries, record by record in order. If a stream is shuffled, it does so
/// run by run: a run is a number of consecutive records, which are permuted. Only the runner that retires may call it,
/// except where a comment says otherwise.
class RecordSamples {
 public:
  /// The arguments must outlive it.
  RecordSamples(const RunSetup& setup, SharedRecords& records, ReorderBuffer& buffer, const IssueProgress& intake,
                ThreadSignals& signals);

  /// Returns the records per run; 1 if nothing is shuffled like this.
  std::uint64_t run_records() const noexcept { return run_records_; }
  /// Starts at `cursor`. What is read must begin with the whole run that holds `cursor`. Call only while nothing is
  /// being processed.
  void reset(const Cursor& cursor) noexcept;

  /// Publishes a made or read record: its samples may get their entries, unless the consumer must first decide which
  /// are skipped. Called by the runner that made the record.
  void publish(SharedRecord& record) noexcept;
  /// Returns whether a record waits until the skips are decided. The consumer's thread.
  bool asks() noexcept;
  void answer() noexcept;

  /// Returns whether a sample and an entry for it exist, as far as is known. Any thread.
  bool can_expand() noexcept;
  /// Gives samples of opened records their entries, in order, as long as there are both. Returns how many it gave.
  std::uint64_t expand() noexcept;
  /// Returns the number of entries that have samples.
  std::uint64_t entries_issued() const noexcept { return entries_issued_.load(std::memory_order_relaxed); }

 private:
  bool opened(std::uint64_t number) noexcept;
  bool see_run() noexcept;
  bool give(SharedRecord& record) noexcept;
  void begin_next_run(std::uint64_t begin) noexcept;
  std::uint64_t permuted(std::uint64_t i) const { return permutation_ ? (*permutation_)(i) : i; }

  const RunSetup& setup_;
  SharedRecords& records_;
  ReorderBuffer& buffer_;
  const IssueProgress& issue_progress_;
  ThreadSignals& signals_;
  const bool from_stream_;
  const std::uint64_t run_records_;

  // Only the retiring runner changes these, and may read them relaxed: the flag that lets one runner retire orders
  // them.
  std::atomic<std::uint64_t> entries_issued_{0};
  std::atomic<std::uint64_t> run_begin_{0};  // the first record of the current run
  std::atomic<std::uint64_t> run_seen_{0};   // how many of its records have arrived
  std::atomic<bool> run_known_{false};       // all have arrived, or the epoch ends before
  std::uint64_t run_size_ = 0, run_given_ = 0, run_number_ = 0;
  bool ends_run_ = false;  // the end of an epoch or of the run comes after it
  bool begun_ = false;     // the current record's samples are being given entries
  // The child of the current record that comes next, and the child that the next record begins with.
  std::uint32_t next_child_ = 0, child_ = 0;
  std::uint64_t next_position_ = 0;  // where the next run begins
  std::optional<Bijection> permutation_;

  std::atomic<std::uint64_t> answered_{0};  // records; only the consumer changes it
};

}  // namespace penstock::detail::runtime
