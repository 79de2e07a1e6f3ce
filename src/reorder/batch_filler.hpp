// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include <penstock/error.hpp>
#include <penstock/stages/batch.hpp>
#include <penstock/state.hpp>

#include "data/cursor.hpp"
#include "pipeline/pipeline_data.hpp"
#include "ring/batch_bounds.hpp"
#include "ring/batch_ring.hpp"

namespace penstock::detail::runtime {

/// The end of an epoch. Counts the samples after the epoch's last batch. With Tail::drop, counts the samples of the
/// dropped batch too.
struct EpochEnd : SampleCounts {
  std::uint64_t epoch = 0;
};

/// Receives the batches that a BatchFiller fills, and the ends of epochs.
class BatchOutlet {
 public:
  virtual ~BatchOutlet() = default;
  /// Returns a buffer to fill. The caller must set the members of the buffer's BatchInfo. Returns null and sets
  /// `stalled` if no buffer is free.
  virtual BatchBuffer* open_batch() noexcept = 0;
  /// Takes a batch that gets no further rows. The batch becomes ready when all its rows are copied, and after
  /// `publish_closed`.
  virtual void close_batch(BatchBuffer& buffer) noexcept = 0;
  /// Makes closed batches ready whose rows are all copied. Call after `close_batch`, when other runners may retire
  /// again. May call functions of `map_batches`. Any runner may call this.
  virtual void publish_closed() noexcept {}
  /// Reports that `rows` more rows were copied to the batch. Any runner may call this.
  virtual void rows_copied(BatchBuffer& buffer, std::uint32_t rows) noexcept = 0;
  /// Discards the buffer of an incomplete batch. Runners may still copy rows into the buffer.
  virtual void discard_batch(BatchBuffer& buffer) noexcept = 0;
  /// Returns whether the end of an epoch can be reported. If not, sets `stalled`.
  virtual bool has_room_for_end() noexcept = 0;
  virtual void end_epoch(EpochEnd end) noexcept = 0;
  /// Returns whether a buffer, or room for the end of an epoch, was missing when it was needed and is still missing.
  /// Any thread may call this.
  bool stalled() const noexcept { return stalled_.load(std::memory_order_seq_cst); }

 protected:
  void set_stalled(bool stalled) noexcept { stalled_.store(stalled, std::memory_order_seq_cst); }

 private:
  std::atomic<bool> stalled_{false};
};

/// What a batch notes about a row: the sample's index, whether the row is a masked bad sample, and the sample's place
/// in the order.
struct FilledRow {
  std::uint64_t index = 0;
  bool masked = false;
  RowPlace place = {};
  Place draw_place = {};  ///< place of the sample's draws
};

/// Fills one batch after the other, and reports the end of each batch and of each epoch to the outlet. Samples that
/// are counted while no batch is open are counted in the next batch, or in the epoch's end. One thread at a time may
/// use it.
class BatchFiller {
 public:
  /// `bounds` and `outlet` must outlive this object. `epochs`: number of epochs of the run; 0 = no limit.
  BatchFiller(const PipelineData& data, const BatchBounds& bounds, BatchOutlet& outlet, std::uint64_t epochs);

  /// Starts with the batch at `cursor`. No batch is open after the call.
  void reset(const Cursor& cursor) noexcept;
  /// Keeps the errors of all bad samples from this call on, not only the first `max_listed` errors of a `tally()`.
  void list_all_bad() noexcept { most_listed_ = ~std::size_t{0}; }

  /// Returns the open batch, or null.
  BatchBuffer* batch() const noexcept { return batch_; }
  /// Opens the next batch. Returns false if there is no free buffer. With `Rank::steps_per_epoch`, also returns false
  /// if the batch is the epoch's last and there is no room for the epoch's end.
  bool open() noexcept;
  /// Returns whether the open batch takes the row.
  bool admits(const BatchBounds::Item& item) const noexcept { return bounds_.admits(fill_, item); }
  /// Adds a row to the open batch and returns the row's number.
  std::uint64_t put(const FilledRow& row) noexcept;
  /// Counts the size and the group of a row towards the open batch's limits. Call once per row. Don't call it
  /// if a bucket window decides which rows a batch gets.
  void count(const BatchBounds::Item& item) noexcept { bounds_.add(fill_, item); }
  /// Returns whether the open batch has the full number of rows, or at least `enough_bytes` bytes.
  bool full() const noexcept { return batch_->valid == rows_ || bounds_.enough(fill_); }
  /// Returns the counts of the open batch. If no batch is open, returns the counts that go to the next batch or to the
  /// epoch's end.
  SampleCounts& tally() noexcept { return batch_ != nullptr ? static_cast<SampleCounts&>(*batch_) : carried_; }
  /// Notes the failure of the sample that `tally()` counts next. Only the first `max_listed` failures of a `tally()`,
  /// and failures with `must` set, keep their errors. After `list_all_bad`, all failures keep them.
  void note_bad(Error error, bool fatal, bool must) noexcept;
  /// Sets the cursor after the open batch, if a batch is open.
  void advance(const Cursor& next) noexcept;
  /// Closes the open batch, which gets no further rows.
  void close() noexcept;
  /// Ends the epoch. Closes the open batch or, with Tail::drop, drops it. `next`: the cursor after the epoch's last
  /// sample.
  void end_epoch(const Cursor& next) noexcept;
  /// Returns whether the last batch of the run was closed. Always false if `Rank::steps_per_epoch` is not set.
  bool finished() const noexcept { return finished_; }

 private:
  const BatchBounds& bounds_;
  BatchOutlet& outlet_;
  const std::uint64_t rows_;
  // `steps_`: batches per epoch; 0: an epoch is a pass. `epochs_`: epochs of the run; 0: no limit.
  const std::uint64_t steps_, epochs_;
  const Tail tail_;
  std::size_t most_listed_;  // how many bad samples of one `tally()` keep their errors
  BatchBuffer* batch_ = nullptr;
  BatchBounds::Fill fill_;  // how full the open batch is
  Cursor at_;               // where the next batch begins
  EpochEnd carried_;
  bool finished_ = false;
};

}  // namespace penstock::detail::runtime
