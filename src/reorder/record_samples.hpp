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

/// Gives the samples of shared records their entries: record by record in order, or, where a stream is shuffled, run by
/// run of so many consecutive records, each run permuted. One runner at a time, the one that retires, but as said.
class RecordSamples {
 public:
  /// These outlive it.
  RecordSamples(const RunSetup& setup, SharedRecords& records, ReorderBuffer& buffer, const IssueProgress& intake,
                ThreadSignals& signals);

  /// Records of a whole run; 1 where nothing is shuffled so.
  std::uint64_t run_records() const noexcept { return run_records_; }
  /// Only while nothing is in work. Begins at `cursor`; what is read has to begin with the whole run that holds it.
  void reset(const Cursor& cursor) noexcept;

  /// It is made, or read: its samples may get their entries, unless the consumer must first say which are skipped. The
  /// runner that made it.
  void publish(SharedRecord& record) noexcept;
  /// A record waits until it is known what of it is skipped. The consumer's thread.
  bool asks() noexcept;
  void answer() noexcept;

  /// There is a sample, and an entry for it, as far as is known. Any thread.
  bool can_expand() noexcept;
  /// Gives samples of opened records their entries, in order, as long as there are both. Returns how many there were.
  std::uint64_t expand() noexcept;
  /// Entries that have samples.
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

  // Only who retires changes these, and may read them relaxed: what lets one at a time retire orders them.
  std::atomic<std::uint64_t> entries_issued_{0};
  std::atomic<std::uint64_t> run_begin_{0};  // the first record of the run in hand
  std::atomic<std::uint64_t> run_seen_{0};   // how many of its records are there
  std::atomic<bool> run_known_{false};       // all are, or the epoch ends before
  std::uint64_t run_size_ = 0, run_given_ = 0, run_number_ = 0;
  bool ends_run_ = false;  // something terminates after it
  bool begun_ = false;     // giving out the record in hand
  // Child of the record in hand that comes next, and that the next record begins with.
  std::uint32_t next_child_ = 0, child_ = 0;
  std::uint64_t next_position_ = 0;  // where the next run begins
  std::optional<Bijection> permutation_;

  std::atomic<std::uint64_t> answered_{0};  // records; the consumer alone changes it
};

}  // namespace penstock::detail::runtime
