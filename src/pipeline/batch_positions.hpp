// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include <penstock/state.hpp>

#include "data/cursor.hpp"
#include "pipeline/pipeline_data.hpp"

namespace penstock::detail {

/// This rank's part of a batch.
struct RankRows {
  std::uint64_t first = 0;  ///< position of the first row
  std::uint64_t valid = 0;  ///< rows that are samples
  std::uint64_t rows = 0;   ///< all rows, including padding
};

/// Finds where batches begin and end in a pipeline that is not reordered. Any thread may use it. `data` must outlive
/// this object.
class BatchPositions {
 public:
  explicit BatchPositions(const PipelineData& data) noexcept : data_(&data) {}

  /// Returns the number of samples in batch `number` of an epoch, on all ranks together.
  std::uint64_t global_valid(std::uint64_t number) const noexcept;
  /// Returns this rank's part of the batch at the cursor.
  RankRows rank_rows(const Cursor& at) const noexcept;
  /// Returns the cursor of the batch that follows the batch at `at`.
  Cursor next(const Cursor& at) const noexcept;
  /// Returns the place of the sample at a position of an epoch. If `Rank::steps_per_epoch` is set, `position` counts
  /// over all passes, and `epoch` is ignored.
  Place place(std::uint64_t epoch, std::uint64_t position) const noexcept {
    if (data_->fixed_steps() != 0) [[unlikely]]
      return {position / data_->size, position % data_->size, 0, 0};
    return {epoch, position, 0, 0};
  }
  /// Writes the source indices of the positions from `first` on. If `Rank::steps_per_epoch` is set, the positions may
  /// continue in the next pass.
  /// @throws what orders throw.
  void fill(std::uint64_t epoch, std::uint64_t first, std::span<std::uint64_t> out) const;

 private:
  const PipelineData* data_;
};

}  // namespace penstock::detail
