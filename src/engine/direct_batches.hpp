// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "blocks/block_schedule.hpp"
#include "data/cursor.hpp"
#include "pipeline/batch_positions.hpp"
#include "ring/batch_ring.hpp"
#include "ring/run_setup.hpp"

namespace penstock::detail::runtime {

/// Decides which samples are in which batch, for pipelines in which every position is one sample.
class DirectBatches {
 public:
  explicit DirectBatches(const RunSetup& setup) : setup_(setup), positions_(*setup.data), steps_(setup.data->steps()) {}

  // -- under the mutex --
  void begin(const Cursor& cursor) noexcept { cursor_ = cursor; }
  bool over() const noexcept { return steps_ == 0 || (setup_.epochs != 0 && cursor_.epoch >= setup_.epochs); }
  /// Continues after a batch that was prepared and issued.
  void go_on_after(const BatchBuffer& buffer) noexcept { cursor_ = buffer.next; }

  /// Sets the samples of the next batch: positions, source indices, mask. Call without the mutex, from one thread,
  /// while no thread calls `begin` or `go_on_after`. @throws whatever the order throws.
  void prepare(BatchBuffer& buffer) const;
  /// Returns the epoch in the Place of the batch's samples.
  std::uint64_t epoch_of(const BatchBuffer& buffer) const { return positions_.place(buffer.epoch, buffer.first).epoch; }
  /// Returns a feed of the records from `at` on.
  BlockSchedule::Feed feed(Cursor at) const;

 private:
  const RunSetup& setup_;
  const BatchPositions positions_;
  const std::uint64_t steps_;
  Cursor cursor_;  // where the next batch begins
};

}  // namespace penstock::detail::runtime
