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

/// What a loader counts as batches are delivered, and the report of it. The caller's thread, but for `report`.
class LoaderCounts {
 public:
  using Clock = std::chrono::steady_clock;

  /// Both outlive it.
  LoaderCounts(const Engine& engine, const Delivery& delivery);

  /// A call of next() begins.
  void begin_call(Clock::time_point now) noexcept;
  /// The call that began at `begun` delivers the batch. Returns when.
  Clock::time_point deliver(const BatchInfo& batch, Clock::time_point begun, const PolicyLedger& ledger) noexcept;
  /// Now and then, for `Report::lately`.
  void mark_if_due(Clock::time_point now) noexcept;
  /// What a report tells begins now. @throws std::bad_alloc, and nothing has changed.
  void begin_anew();
  /// The epoch is over.
  void end_epoch(Clock::time_point now) noexcept;

  /// Bad samples said something.
  void note_messages(const PolicyLedger& ledger);
  /// How an epoch ended is known; `empty`: no batch came.
  void note_end(const PolicyLedger& ledger, bool empty) noexcept;
  /// An epoch after the last one of so many was asked for.
  void note_beyond(std::uint64_t epochs) noexcept;

  /// Any thread.
  Report report() const;

 private:
  CountsSoFar mark() const;

  const Engine& engine_;
  const Delivery& delivery_;
  // Bytes of a delivered row at fixed addresses, where stages stand after `batch`.
  std::uint64_t delivered_row_bytes_ = 0;
  // Fields of the batch before those stages that stay, of rows of any size.
  std::vector<std::size_t> delivered_appended_;

  Clock::time_point first_call_{}, marked_{};
  Latency latency_;
  DelayMeter caller_;
  std::thread::id caller_thread_;
  mutable std::mutex mutex_;
  // Under the mutex, as reports are any thread's:
  DeliveryCounters counters_;
  std::optional<CoreTime> cores_first_, cores_last_;  // at the first call, and where an epoch ended
  std::optional<CountsSoFar> begin_;            // where tuning changed something: there begins what a report tells
  std::optional<CountsSoFar> lately_, latest_;  // some seconds ago; the later one: once the next is made
};

}  // namespace penstock::detail::runtime
