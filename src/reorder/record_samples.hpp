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

/// Gives each sample of a shared record an entry, record by record in order. The records of a shuffled stream are
/// permuted within runs of consecutive records. Only the runner that retires may call the functions, unless a comment
/// names another thread.
class RecordSamples {
 public:
  /// The arguments must outlive this object.
  RecordSamples(const RunSetup& setup, SharedRecords& records, ReorderBuffer& buffer, const IssueProgress& intake,
                ThreadSignals& signals);

  /// Returns the number of records in a run; 1 if the pipeline does not shuffle a stream.
  std::uint64_t run_records() const noexcept { return run_records_; }
  /// Starts at `cursor`. Reading a stream must begin with the first record of the run that holds `cursor`. Call only
  /// while no runner works.
  void reset(const Cursor& cursor) noexcept;

  /// Publishes a record that was made or read. Its samples may get entries, unless the consumer must first decide which
  /// samples are skipped. The runner that made or read the record calls this.
  void publish(SharedRecord& record) noexcept;
  /// Returns whether a record waits for the consumer to decide its skips. Any thread may call this; only the consumer
  /// calls `answer`.
  bool asks() noexcept;
  void answer() noexcept;

  /// Returns whether `expand` may have something to do. Any thread.
  bool can_expand() noexcept;
  /// Gives samples of opened records their entries, in order, until a record or an entry is missing. Returns how many
  /// samples got entries.
  std::uint64_t expand() noexcept;
  /// Returns how many samples have got entries since `reset`.
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

  // Only the runner that retires changes these members. Only one runner at a time retires, and a flag ensures this. The
  // flag also puts the changes in order, so the runner that retires may read the members with relaxed order.
  std::atomic<std::uint64_t> entries_issued_{0};
  std::atomic<std::uint64_t> run_begin_{0};  // number of the current run's first record
  std::atomic<std::uint64_t> run_seen_{0};   // how many records of the current run have arrived
  std::atomic<bool> run_known_{
      false};  // all records of the current run have arrived; an epoch's end or a fatal failure shortens a run
  std::uint64_t run_size_ = 0, run_given_ = 0, run_number_ = 0;
  bool ends_run_ = false;  // the current run is followed by an end of the epoch or by a fatal failure
  bool begun_ = false;     // some samples of the current record may already have entries
  // `next_child_`: the child of the current record that gets the next entry. `child_`: the first child of the first
  // record, after a resume.
  std::uint32_t next_child_ = 0, child_ = 0;
  std::uint64_t next_position_ = 0;  // how many records of the first run were delivered before a resume
  std::optional<Bijection> permutation_;

  std::atomic<std::uint64_t> answered_{0};  // number of records whose skips are decided; only the consumer changes this
};

}  // namespace penstock::detail::runtime
