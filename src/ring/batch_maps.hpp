// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <vector>

#include <penstock/error.hpp>
#include <penstock/state.hpp>

#include "pipeline/batch_positions.hpp"
#include "pipeline/pipeline_data.hpp"
#include "ring/batch_layout.hpp"

namespace penstock::detail::runtime {

struct BatchBuffer;

/// The batch that a HostBatch shows to a function.
struct MappedBatch {
  const BatchBuffer& buffer;
  const BatchLayout& layout;
  const Schema& schema;  ///< of a row after the stage
  const BatchPositions& positions;
  const std::stop_token& stop;
  std::uint64_t seed, key;

  /// Returns the place of a row that is a sample.
  Place place(std::uint64_t row) const noexcept;
};

/// What the calls of one `map_batches` cost.
struct BatchMapCounts {
  std::uint64_t samples = 0;  ///< valid rows of the batches
  std::uint64_t cpu_ns = 0;
};

/// The stages of `map_batches` in a run. Runs each stage once per batch. Several threads may run stages at the same
/// time, for different batches.
class BatchMaps {
 public:
  /// `data` and `layout` must outlive this object.
  BatchMaps(const PipelineData& data, const BatchLayout& layout, std::stop_token stop);
  BatchMaps(const BatchMaps&) = delete;
  BatchMaps& operator=(const BatchMaps&) = delete;

  bool empty() const noexcept { return data_.after_batch.maps.empty(); }
  /// Runs the stages that runners run. Call when all rows of the batch are made, and before it is ready. If a function
  /// throws, sets the batch's `overflow`, or masks its rows.
  void run_on_runner(BatchBuffer& buffer) noexcept { run(buffer, 0, first_on_caller_); }
  /// Runs the other stages, unless they ran on this batch before. Only the consumer calls this, for a ready batch.
  void run_on_caller(BatchBuffer& buffer) noexcept;
  /// Returns the counts of each stage so far. Any thread.
  std::vector<BatchMapCounts> counts() const;

 private:
  struct Counters {
    std::atomic<std::uint64_t> samples{0}, cpu_ns{0};
  };
  void run(BatchBuffer& buffer, std::size_t first, std::size_t last) noexcept;
  void apply(BatchBuffer& buffer, std::size_t number);
  void clear_added(BatchBuffer& buffer, const BoundBatchMap& map) const noexcept;
  void fail(BatchBuffer& buffer, const BoundBatchMap& map);
  void mask_rows(BatchBuffer& buffer, const Error& error) const;

  const PipelineData& data_;
  const BatchLayout& layout_;
  const BatchPositions positions_;
  const std::stop_token stop_;
  std::size_t first_on_caller_ = 0;
  std::vector<Counters> counters_;
};

}  // namespace penstock::detail::runtime
