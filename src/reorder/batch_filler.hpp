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

/// How an epoch ended. The tally is of samples after its last batch; with Tail::drop also those of the batch that is
/// not wanted.
struct EpochEnd : SampleCounts {
  std::uint64_t epoch = 0;
};

/// Where retired rows go.
class BatchOutlet {
 public:
  virtual ~BatchOutlet() = default;
  /// A buffer to fill, of which nothing is set; null: none is free now, and it is stalled.
  virtual BatchBuffer* open_batch() noexcept = 0;
  /// All its rows are taken: it is the next batch. It becomes ready when they are copied.
  virtual void close_batch(BatchBuffer& buffer) noexcept = 0;
  /// So many more of its rows are copied into it. Any runner.
  virtual void rows_copied(BatchBuffer& buffer, std::uint32_t rows) noexcept = 0;
  /// It was opened for an incomplete batch that is not wanted. Rows may still be copied into it.
  virtual void discard_batch(BatchBuffer& buffer) noexcept = 0;
  /// Whether the end of an epoch can be told now; if not, it is stalled.
  virtual bool has_room_for_end() noexcept = 0;
  virtual void end_epoch(EpochEnd end) noexcept = 0;
  /// A buffer, or room for the end of an epoch, was missing, and has not come yet. Any thread.
  bool stalled() const noexcept { return stalled_.load(std::memory_order_seq_cst); }

 protected:
  void set_stalled(bool stalled) noexcept { stalled_.store(stalled, std::memory_order_seq_cst); }

 private:
  std::atomic<bool> stalled_{false};
};

/// What is told of a row: the sample's index, whether it stands for a bad one, and its place in the order.
struct FilledRow {
  std::uint64_t index = 0;
  bool masked = false;
  RowPlace place = {};
};

/// Fills one batch after the other and says when they, and the epoch, end. What is counted between two batches, and
/// before an epoch's end, is carried over. One thread at a time.
class BatchFiller {
 public:
  /// `bounds` and `outlet` outlive it; `epochs`: of the run, 0 = no end.
  BatchFiller(const PipelineData& data, const BatchBounds& bounds, BatchOutlet& outlet, std::uint64_t epochs);

  /// The next batch is the one at `cursor`. Nothing is open.
  void reset(const Cursor& cursor) noexcept;
  /// Bad samples keep what they say, however many come without a survivor between them.
  void list_all_bad() noexcept { most_listed_ = ~std::size_t{0}; }

  /// The batch that is open, or null.
  BatchBuffer* batch() const noexcept { return batch_; }
  /// Opens the next one. False: it has to wait for a buffer, or for room for its epoch's end.
  bool open() noexcept;
  /// Whether the open batch takes it.
  bool admits(const BatchBounds::Item& item) const noexcept { return bounds_.admits(fill_, item); }
  /// The number of the row that it gets in the open batch.
  std::uint64_t put(const FilledRow& row) noexcept;
  /// The sizes and the group of the row that was put count for the open batch.
  void count(const BatchBounds::Item& item) noexcept { bounds_.add(fill_, item); }
  /// It has all rows, or all bytes, that it may have.
  bool full() const noexcept { return batch_->valid == rows_ || bounds_.enough(fill_); }
  /// What has come to the open batch, or after the last one.
  SampleCounts& tally() noexcept { return batch_ != nullptr ? static_cast<SampleCounts&>(*batch_) : carried_; }
  /// What failed stands where its sample would have stood. Only the first of many without a survivor between them, and
  /// one that `must`, keep what they say.
  void note_bad(Error error, bool fatal, bool must) noexcept;
  /// What was told with the open batch, if there is one, is not looked at again after it.
  void advance(const Cursor& next) noexcept;
  /// The open batch has all rows that it gets.
  void close() noexcept;
  /// The open batch becomes the epoch's last, or is dropped as Tail says. `next`: after the epoch's last sample.
  void end_epoch(const Cursor& next) noexcept;
  /// The last batch of a run of so many epochs of so many batches was closed.
  bool finished() const noexcept { return finished_; }

 private:
  const BatchBounds& bounds_;
  BatchOutlet& outlet_;
  const std::uint64_t rows_;
  const std::uint64_t steps_, epochs_;  // batches an epoch, or 0 where the data end it; of the run
  const Tail tail_;
  std::size_t most_listed_;  // bad samples in a row that keep what they say
  BatchBuffer* batch_ = nullptr;
  BatchBounds::Fill fill_;  // how full the batch is
  Cursor at_;               // where the next batch begins
  EpochEnd carried_;
  bool finished_ = false;
};

}  // namespace penstock::detail::runtime
