// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <string>
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

/// What a stage on complete batches cost.
struct BatchStageCounts {
  std::uint64_t samples = 0;  ///< valid rows of the batches
  std::uint64_t cpu_ns = 0;
};

/// The stages that the host runs on complete batches: `map_batches`, and then device stages in place. Runs each stage
/// once per batch. Several threads may run stages at the same time, for different batches.
class BatchStages {
 public:
  /// A `map_batches`, or a device stage that works in place. One of the pointers is null.
  struct Stage {
    const BoundBatchMap* map = nullptr;
    const DeviceStep* step = nullptr;
    const std::string& label() const noexcept { return map != nullptr ? map->stage.label : step->label; }
  };

  /// `in_place`: whether the host runs the device stages. `data` and `layout` must outlive this object.
  BatchStages(const PipelineData& data, const BatchLayout& layout, bool in_place, std::stop_token stop);
  BatchStages(const BatchStages&) = delete;
  BatchStages& operator=(const BatchStages&) = delete;

  bool empty() const noexcept { return stages_.empty(); }
  /// Runs the stages that runners run. Call when all rows of the batch are made, and before it is ready. If a stage
  /// throws, sets the batch's `overflow`, or masks its rows.
  void run_on_runner(BatchBuffer& buffer) noexcept { run(buffer, 0, first_on_caller_); }
  /// Runs the other stages, unless they ran on this batch before. Only the consumer calls this, for a ready batch.
  void run_on_caller(BatchBuffer& buffer) noexcept;
  /// Returns the counts of each stage so far. Any thread.
  std::vector<BatchStageCounts> counts() const;

  /// Returns all stages of a run, in their order.
  static std::vector<Stage> of(const PipelineData& data, bool in_place);
  /// Returns the number of the first stage that the caller runs. The caller runs all stages after it too.
  static std::size_t first_on_caller(const std::vector<Stage>& stages) noexcept;

 private:
  struct Counters {
    std::atomic<std::uint64_t> samples{0}, cpu_ns{0};
  };
  void run(BatchBuffer& buffer, std::size_t first, std::size_t last) noexcept;
  void apply(BatchBuffer& buffer, const BoundBatchMap& map) const;
  void apply(BatchBuffer& buffer, const DeviceStep& step) const;
  void clear_added(BatchBuffer& buffer, const BoundBatchMap& map) const noexcept;
  void fail(BatchBuffer& buffer, const Stage& stage);
  void mask_rows(BatchBuffer& buffer, const Error& error) const;

  const PipelineData& data_;
  const BatchLayout& layout_;
  const BatchPositions positions_;
  const std::stop_token stop_;
  const std::vector<Stage> stages_;
  const std::size_t first_on_caller_;
  std::vector<Counters> counters_;
};

}  // namespace penstock::detail::runtime
