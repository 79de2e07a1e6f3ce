#pragma once

#include <cstdint>

#include "blocks/block_schedule.hpp"
#include "data/cursor.hpp"
#include "pipeline/batch_positions.hpp"
#include "ring/batch_ring.hpp"
#include "ring/run_setup.hpp"

namespace penstock::detail::runtime {

/// Which samples are in which batch, where every position is one sample.
class DirectBatches {
 public:
  explicit DirectBatches(const RunSetup& setup) : setup_(setup), positions_(*setup.data), steps_(setup.data->steps()) {}

  // -- under the mutex --
  void begin(const Cursor& cursor) noexcept { cursor_ = cursor; }
  bool over() const noexcept { return steps_ == 0 || (setup_.epochs != 0 && cursor_.epoch >= setup_.epochs); }
  /// That batch, which was prepared, is issued.
  void go_on_after(const BatchBuffer& buffer) noexcept { cursor_ = buffer.next; }

  /// Says of the next batch which samples are in it: positions, source indices, mask. Without the mutex, one thread,
  /// while nobody calls `begin` or `go_on_after`. @throws what the order throws.
  void prepare(BatchBuffer& buffer) const;
  /// The epoch in which its samples' draws are made.
  std::uint64_t epoch_of(const BatchBuffer& buffer) const { return positions_.place(buffer.epoch, buffer.first).epoch; }
  /// The records from `at` on.
  BlockSchedule::Feed feed(Cursor at) const;

 private:
  const RunSetup& setup_;
  const BatchPositions positions_;
  const std::uint64_t steps_;
  Cursor cursor_;  // where the next batch begins
};

}  // namespace penstock::detail::runtime
