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

/// Where `next()` gets its batches: from the engine's ring itself, or from a ring on a device that is filled from it.
/// One thread at a time, except for `stop` and `describe`.
class Delivery {
 public:
  virtual ~Delivery() = default;

  /// Returns the number of parts of every batch: one per device.
  virtual std::size_t parts() const noexcept { return 1; }
  /// Checks whether a caller may use its batches on these streams, one per part. @throws Error(invalid_argument |
  /// unsupported).
  virtual void check(std::span<const StreamRef> streams) const = 0;
  /// Discards everything unread and begins at `cursor`. `count`: what the run counted before.
  virtual void seek(const Cursor& cursor, const QuotaCount& count) = 0;
  /// Announces that the caller wants the next batch on these streams, one per part, which were checked; `wait` follows.
  virtual void ask(std::span<const StreamRef>) noexcept {}
  /// Returns the next batch, once it is ready; it stays the next one until it is leased. Returns null after a stop. If
  /// only the samples determine the end of the epoch, it also returns null at that end.
  /// @throws LeasesExhausted, or the error that ended the run, after the batches before it.
  virtual BatchInfo* wait(std::uint64_t epoch) = 0;
  /// Returns the cursor after the batch whose own failure `wait` threw last; none if the failure was not of one batch.
  virtual std::optional<Cursor> after_failure() const { return std::nullopt; }
  /// Returns what the epoch's last batch did not report, if the epoch has ended. None: it has not, or a batch comes
  /// first.
  virtual std::optional<EpochEnd> take_epoch_end(std::uint64_t epoch) = 0;
  /// Creates a lease that holds nothing so far, so that a batch that was waited for needs no memory.
  virtual std::unique_ptr<Lease> make_lease(std::size_t part) = 0;
  /// Makes later work on the streams see its part of the batch that `wait` returned. For the host's own stream the host
  /// waits. @throws Error(device); the batch is still the next one.
  virtual void arrive(BatchInfo& batch, std::span<const StreamRef> streams) = 0;
  /// Makes the leases hold the batch's parts.
  virtual void take(std::span<const std::unique_ptr<Lease>> leases, BatchInfo& batch,
                    std::span<const StreamRef> streams) noexcept = 0;
  /// Drops the batch that `wait` returned.
  virtual void skip(BatchInfo& batch) noexcept = 0;
  /// Wakes wait(), which returns null from this moment on. Any thread.
  virtual void stop() noexcept = 0;
  /// Ends all work before it returns; leases may still be held.
  virtual void close() noexcept = 0;
  /// Returns the counts of the way to devices. Any thread.
  virtual DeliveryTimes times() const { return {}; }
  /// Sets the report's facts about the delivery. Any thread.
  virtual void describe(Report& report) const = 0;
};

}  // namespace penstock::detail::runtime
