// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include <penstock/error.hpp>
#include <penstock/stages/batch.hpp>

#include "data/cursor.hpp"
#include "pipeline/pipeline_data.hpp"
#include "ring/batch_bounds.hpp"
#include "ring/batch_ring.hpp"

namespace penstock::detail::runtime {

/// How an epoch ended. Counts the samples after its last batch, and, with Tail::drop, the samples of the dropped batch.
struct EpochEnd : SampleCounts {
  std::uint64_t epoch = 0;
};

/// Receives the rows that are retired.
class BatchOutlet {
 public:
  virtual ~BatchOutlet() = default;
  /// Returns a buffer to fill, of which nothing is set; null: none is free, and the outlet is stalled.
  virtual BatchBuffer* open_batch() noexcept = 0;
  /// Completes the rows of the next batch. It becomes ready when all rows are copied.
  virtual void close_batch(BatchBuffer& buffer) noexcept = 0;
  /// Reports that `rows` more of its rows were copied. Any runner.
  virtual void rows_copied(BatchBuffer& buffer, std::uint32_t rows) noexcept = 0;
  /// Discards a buffer that was opened for an incomplete batch. Rows may still be copied into it.
  virtual void discard_batch(BatchBuffer& buffer) noexcept = 0;
  /// Returns whether the end of an epoch can be reported; if not, the outlet is stalled.
  virtual bool has_room_for_end() noexcept = 0;
  virtual void end_epoch(EpochEnd end) noexcept = 0;
  /// Returns whether a buffer, or room for the end of an epoch, was missing and is still missing. Any thread.
  bool stalled() const noexcept { return stalled_.load(std::memory_order_seq_cst); }

 protected:
  void set_stalled(bool stalled) noexcept { stalled_.store(stalled, std::memory_order_seq_cst); }

 private:
  std::atomic<bool> stalled_{false};
};

/// What is known of a row: the sample's index, whether it replaces a bad one, and its place in the order.
struct FilledRow {
  std::uint64_t index = 0;
  bool masked = false;
  RowPlace place = {};
};

/// Fills one batch after the other, and reports when each of them, and the epoch, ends. Counts made between two
/// batches, or before an epoch's end, are carried over. One thread at a time.
class BatchFiller {
 public:
  /// `bounds` and `outlet` must outlive it. `epochs`: number of epochs of the run; 0 = no limit.
  BatchFiller(const PipelineData& data, const BatchBounds& bounds, BatchOutlet& outlet, std::uint64_t epochs);

  /// Starts with the batch at `cursor`. No batch is open then.
  void reset(const Cursor& cursor) noexcept;
  /// Keeps the errors of all bad samples, however many a `tally()` has.
  void list_all_bad() noexcept { most_listed_ = ~std::size_t{0}; }

  /// Returns the open batch, or null.
  BatchBuffer* batch() const noexcept { return batch_; }
  /// Opens the next batch. Returns false if it has to wait for a buffer, or for room for its epoch's end.
  bool open() noexcept;
  /// Returns whether the open batch takes the row.
  bool admits(const BatchBounds::Item& item) const noexcept { return bounds_.admits(fill_, item); }
  /// Returns the number of the row that it gets in the open batch.
  std::uint64_t put(const FilledRow& row) noexcept;
  /// Counts the size and the group of the last `put` row for the open batch.
  void count(const BatchBounds::Item& item) noexcept { bounds_.add(fill_, item); }
  /// Returns whether the open batch has all rows, or all bytes, that it may have.
  bool full() const noexcept { return batch_->valid == rows_ || bounds_.enough(fill_); }
  /// Returns the counts of the open batch, or of the time since the last one.
  SampleCounts& tally() noexcept { return batch_ != nullptr ? static_cast<SampleCounts&>(*batch_) : carried_; }
  /// Notes a failure in the place of its sample. Only the first `max_listed` failures of a `tally()`, and those with
  /// `must` set, keep their errors.
  void note_bad(Error error, bool fatal, bool must) noexcept;
  /// Sets the cursor after the open batch, if one is open.
  void advance(const Cursor& next) noexcept;
  /// Closes the open batch, which gets no further rows.
  void close() noexcept;
  /// Makes the open batch the epoch's last, or drops it, as Tail specifies. `next`: after the epoch's last sample.
  void end_epoch(const Cursor& next) noexcept;
  /// Returns whether the last batch of the run was closed: `epochs` epochs, each of a set number of batches.
  bool finished() const noexcept { return finished_; }

 private:
  const BatchBounds& bounds_;
  BatchOutlet& outlet_;
  const std::uint64_t rows_;
  const std::uint64_t steps_, epochs_;  // batches per epoch, or 0 if the data end it; epochs of the run
  const Tail tail_;
  std::size_t most_listed_;  // number of successive bad samples that keep their errors
  BatchBuffer* batch_ = nullptr;
  BatchBounds::Fill fill_;  // how full the batch is
  Cursor at_;               // where the next batch begins
  EpochEnd carried_;
  bool finished_ = false;
};

}  // namespace penstock::detail::runtime
