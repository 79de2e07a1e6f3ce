#pragma once

#include <cstdint>
#include <span>

#include <penstock/state.hpp>

#include "data/cursor.hpp"
#include "pipeline/pipeline_data.hpp"

namespace penstock::detail {

/// What this rank has of a batch.
struct RankRows {
  std::uint64_t first = 0;  ///< first position
  std::uint64_t valid = 0;  ///< rows that are samples
  std::uint64_t rows = 0;   ///< rows with padding
};

/// Where the batches of a pipeline that is not reordered begin and end. Any thread; the data must outlive it.
class BatchPositions {
 public:
  explicit BatchPositions(const PipelineData& data) noexcept : data_(&data) {}

  /// Samples in batch `number` of an epoch, on all ranks together.
  std::uint64_t global_valid(std::uint64_t number) const noexcept;
  /// What this rank has of the batch at the cursor.
  RankRows rank_rows(const Cursor& at) const noexcept;
  /// The batch after that one.
  Cursor next(const Cursor& at) const noexcept;
  /// Where the sample at a position of an epoch, or of all passes, stands.
  Place place(std::uint64_t epoch, std::uint64_t position) const noexcept {
    if (data_->fixed_steps() != 0) [[unlikely]]
      return {position / data_->size, position % data_->size, 0, 0};
    return {epoch, position, 0, 0};
  }
  /// Source indices of the positions from `first` on, which may go on in the next pass. @throws what orders do.
  void fill(std::uint64_t epoch, std::uint64_t first, std::span<std::uint64_t> out) const;

 private:
  const PipelineData* data_;
};

}  // namespace penstock::detail
