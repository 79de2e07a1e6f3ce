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

/// Where `next()` gets its batches: from the engine's ring itself, or from one on a device that is filled from it.
/// One thread at a time, but for `stop` and `describe`.
class Delivery {
 public:
  virtual ~Delivery() = default;

  /// Parts that every batch has: one for each device.
  virtual std::size_t parts() const noexcept { return 1; }
  /// Whether a caller may want its batches on these streams, one for each part. @throws Error(invalid_argument |
  /// unsupported).
  virtual void check(std::span<const StreamRef> streams) const = 0;
  /// Gives up all that is unread and begins at `cursor`, before which the run counted so much.
  virtual void seek(const Cursor& cursor, const QuotaCount& count) = 0;
  /// The caller asks for the next batch on these streams, one for each part, which were checked, and `wait`s for it
  /// now.
  virtual void ask(std::span<const StreamRef>) noexcept {}
  /// The next batch, once it is there: the same one until it is leased. Null after a stop, and, where only the samples
  /// tell, at the end of the epoch. @throws LeasesExhausted, or what ended the run, after the batches before it.
  virtual BatchInfo* wait(std::uint64_t epoch) = 0;
  /// What stands after the batch whose own failure `wait` threw last; none where it was nobody's.
  virtual std::optional<Cursor> after_failure() const { return std::nullopt; }
  /// Takes note that the epoch ended: what its last batch did not tell. None: it has not, or a batch comes first.
  virtual std::optional<EpochEnd> take_epoch_end(std::uint64_t epoch) = 0;
  /// One that holds nothing yet, so that a batch that was waited for needs no memory.
  virtual std::unique_ptr<Lease> make_lease(std::size_t part) = 0;
  /// Work that is put on the streams from now on sees its part of the batch that `wait` gave; for the host's own stream
  /// the host waits. @throws Error(device): the batch is still the next one.
  virtual void arrive(BatchInfo& batch, std::span<const StreamRef> streams) = 0;
  /// Has the leases hold its parts.
  virtual void take(std::span<const std::unique_ptr<Lease>> leases, BatchInfo& batch,
                    std::span<const StreamRef> streams) noexcept = 0;
  /// The batch that `wait` gave is not wanted.
  virtual void skip(BatchInfo& batch) noexcept = 0;
  /// Wakes wait(), which returns null from now on. Any thread.
  virtual void stop() noexcept = 0;
  /// Nothing runs any more when it returns; leases may be held still.
  virtual void close() noexcept = 0;
  /// What was counted on the way to devices. Any thread.
  virtual DeliveryTimes times() const { return {}; }
  /// What it knows of the run. Any thread.
  virtual void describe(Report& report) const = 0;
};

}  // namespace penstock::detail::runtime
