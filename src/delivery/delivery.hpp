// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include <penstock/device.hpp>
#include <penstock/report.hpp>

#include "delivery/device_counts.hpp"
#include "delivery/lease.hpp"
#include "reorder/reorder_buffer.hpp"
#include "ring/batch_info.hpp"
#include "ring/leases_exhausted.hpp"

namespace penstock::detail::runtime {

/// Where `next()` gets its batches: from the engine's ring, or from a ring on a device to which the engine's batches
/// are copied. One thread at a time may use it, except for functions with the remark "any thread".
class Delivery {
 public:
  virtual ~Delivery() = default;

  /// Returns the number of parts of every batch: one per device.
  virtual std::size_t parts() const noexcept { return 1; }
  /// Checks whether a caller may use batches on these streams, one per part. @throws Error(invalid_argument |
  /// unsupported).
  virtual void check(std::span<const StreamRef> streams) const = 0;
  /// Discards all batches that were not leased and begins at `cursor`. `count`: what the run counted before
  /// `cursor`.
  virtual void seek(const Cursor& cursor, const QuotaCount& count) = 0;
  /// Announces that the caller wants the next batch on these streams, one per part. Call after `check` and before
  /// `wait`.
  virtual void ask(std::span<const StreamRef>) noexcept {}
  /// Waits until the next batch is ready and returns it. The next call returns the same batch unless `take` or `skip`
  /// was called. Returns null after a stop. If the end of the epoch depends on the samples, also returns null at that
  /// end.
  /// @throws LeasesExhausted; or, after all batches before it, the error that ended the run.
  virtual BatchInfo* wait(std::uint64_t epoch) = 0;
  /// If sending one batch to a device caused the last error that `wait` threw, returns the cursor after that batch.
  /// Otherwise returns none.
  virtual std::optional<Cursor> after_failure() const { return std::nullopt; }
  /// Returns the counts that the epoch's last batch did not report. Returns none if the epoch has not ended, if a batch
  /// must be delivered first, or if batches report all counts.
  virtual std::optional<EpochEnd> take_epoch_end(std::uint64_t epoch) = 0;
  /// Creates a lease that holds no batch. It is created before `take`, which then needs no memory.
  virtual std::unique_ptr<Lease> make_lease(std::size_t part) = 0;
  /// Makes later work on each stream wait until its part of the batch is ready. `batch`: the batch that `wait`
  /// returned. For the host's stream, the call itself waits. @throws Error(device). After an exception the batch is
  /// still the next batch.
  virtual void arrive(BatchInfo& batch, std::span<const StreamRef> streams) = 0;
  /// Makes the leases hold the parts of the batch that `wait` returned.
  virtual void take(std::span<const std::unique_ptr<Lease>> leases, BatchInfo& batch,
                    std::span<const StreamRef> streams) noexcept = 0;
  /// Drops the batch that `wait` returned.
  virtual void skip(BatchInfo& batch) noexcept = 0;
  /// Makes `wait` return null from this moment on. Any thread.
  virtual void stop() noexcept = 0;
  /// Stops, and waits until all work has ended. The caller may still hold leases.
  virtual void close() noexcept = 0;
  /// Returns times of sending batches to devices. Any thread.
  virtual DeliveryTimes times() const { return {}; }
  /// Sets the report's facts about the delivery. Any thread.
  virtual void describe(Report& report) const = 0;
};

}  // namespace penstock::detail::runtime
