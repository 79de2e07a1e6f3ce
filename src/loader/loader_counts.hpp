// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include <penstock/report.hpp>

#include "base/core_time.hpp"
#include "base/latency_histogram.hpp"
#include "base/run_delay.hpp"
#include "delivery/delivery.hpp"
#include "engine/engine.hpp"
#include "report/counts_so_far.hpp"
#include "report/delivery_counters.hpp"
#include "ring/batch_info.hpp"
#include "ring/policy.hpp"

namespace penstock::detail::runtime {

/// Counts batches as a loader delivers them, and makes the report. Only the caller's thread may call its functions,
/// except `report`.
class LoaderCounts {
 public:
  using Clock = std::chrono::steady_clock;

  /// Both arguments must outlive this object.
  LoaderCounts(const Engine& engine, const Delivery& delivery);

  /// Notes that a call of `next()` begins.
  void begin_call(Clock::time_point now) noexcept;
  /// Counts a batch that is delivered by the call of `next()` that began at `begun`. Returns the present time.
  Clock::time_point deliver(const BatchInfo& batch, Clock::time_point begun, const BadSampleLedger& ledger) noexcept;
  /// Keeps the present counts for `Report::lately`. Does nothing if it kept counts in the last 5 seconds.
  void mark_if_due(Clock::time_point now) noexcept;
  /// Makes the counts of reports begin at this moment. @throws std::bad_alloc, and changes nothing in this case.
  void begin_anew();
  /// Notes that the epoch is over. At some of these calls, reads the cores' times.
  void end_epoch(Clock::time_point now) noexcept;

  /// Keeps the messages of bad samples.
  void note_messages(const BadSampleLedger& ledger);
  /// Notes that the epoch's outcome is known. `empty`: the epoch had no batch.
  void note_end(const BadSampleLedger& ledger, bool empty) noexcept;
  /// Notes that the caller asked for an epoch after the last of `epochs` epochs.
  void note_beyond(std::uint64_t epochs) noexcept;

  /// Any thread may call this.
  Report report() const;

 private:
  CountsSoFar mark() const;
  FetchedSoFar fetched() const noexcept;

  const Engine& engine_;
  const Delivery& delivery_;
  // Bytes of a delivered row in fields at fixed addresses. Used only if there are stages after `batch`.
  std::uint64_t delivered_row_bytes_ = 0;
  // Fields whose rows differ in size and that the stages after `batch` keep.
  std::vector<std::size_t> delivered_appended_;

  Clock::time_point first_call_{}, marked_{};
  LatencyHistogram latency_;
  DelayMeter caller_;
  std::thread::id caller_thread_;
  mutable std::mutex mutex_;
  // Guarded by the mutex, because any thread may make a report:
  DeliveryCounters counters_;
  std::optional<CoreTime> cores_first_, cores_last_;  // read at the first call of `next()`, and at an epoch's end
  FetchedSoFar fetched_first_, fetched_last_;         // at the first call of `next()`, and at about the last
  std::optional<CountsSoFar> begin_;            // the counts from which reports begin, after tuning changed a setting
  std::optional<CountsSoFar> lately_, latest_;  // the last two kept counts; `lately_` is the older
};

}  // namespace penstock::detail::runtime
