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
#include "base/latency.hpp"
#include "base/run_delay.hpp"
#include "delivery/delivery.hpp"
#include "engine/engine.hpp"
#include "report/counts_so_far.hpp"
#include "report/delivery_counters.hpp"
#include "ring/batch_info.hpp"
#include "ring/policy.hpp"

namespace penstock::detail::runtime {

/// Counts batches as a loader delivers them, and makes the report. The caller's thread, except for `report`.
class LoaderCounts {
 public:
  using Clock = std::chrono::steady_clock;

  /// Both arguments must outlive it.
  LoaderCounts(const Engine& engine, const Delivery& delivery);

  /// Begins a call of next().
  void begin_call(Clock::time_point now) noexcept;
  /// Counts a batch that is delivered by the call that began at `begun`. Returns the time.
  Clock::time_point deliver(const BatchInfo& batch, Clock::time_point begun, const PolicyLedger& ledger) noexcept;
  /// Keeps the counts from time to time, for `Report::lately`.
  void mark_if_due(Clock::time_point now) noexcept;
  /// Makes reports begin at this moment. @throws std::bad_alloc; then nothing has changed.
  void begin_anew();
  /// Notes that the epoch is over.
  void end_epoch(Clock::time_point now) noexcept;

  /// Keeps the messages of bad samples.
  void note_messages(const PolicyLedger& ledger);
  /// Notes that the epoch's outcome is known. `empty`: it had no batch.
  void note_end(const PolicyLedger& ledger, bool empty) noexcept;
  /// Notes that an epoch after the last of `epochs` was asked for.
  void note_beyond(std::uint64_t epochs) noexcept;

  /// Any thread.
  Report report() const;

 private:
  CountsSoFar mark() const;

  const Engine& engine_;
  const Delivery& delivery_;
  // Bytes of a delivered row at fixed addresses, if there are stages after `batch`.
  std::uint64_t delivered_row_bytes_ = 0;
  // Fields with rows of any size that those stages leave in the batch.
  std::vector<std::size_t> delivered_appended_;

  Clock::time_point first_call_{}, marked_{};
  Latency latency_;
  DelayMeter caller_;
  std::thread::id caller_thread_;
  mutable std::mutex mutex_;
  // Under the mutex, because any thread may make a report:
  DeliveryCounters counters_;
  std::optional<CoreTime> cores_first_, cores_last_;  // at the first call, and at an epoch's end
  std::optional<CountsSoFar> begin_;                  // where reports begin, after tuning changed something
  std::optional<CountsSoFar> lately_, latest_;  // counts from a few seconds ago; the later ones, once the next are
                                                // taken
};

}  // namespace penstock::detail::runtime
