// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <penstock/memory.hpp>

#include "base/trace.hpp"
#include "data/position_range.hpp"
#include "pipeline/pipeline_data.hpp"
#include "ring/memory_plan.hpp"

namespace penstock::detail::runtime {

class RecordSkips;

/// What all parts of a run share. The loader or `write` sets it before the run begins. It does not change
/// during the run.
struct RunSetup {
  std::shared_ptr<const PipelineData> data;
  MemoryPlan plan;
  MemoryResource* memory = &host_memory();
  std::shared_ptr<MemoryResource> buffer_memory;  ///< memory of the fixed-size fields of batches; null: `memory`
  bool has_threads_alone = false;                 ///< no other code uses the executor
  std::uint64_t epochs = 0;                       ///< number of epochs; 0 = no limit
  bool keeps_places = false;                      ///< batches of a reordered pipeline note the place of each row
  bool lists_all_bad = false;                     ///< bad samples keep their errors, however many there are
  /// Positions whose samples are made in a run of one epoch, ascending; empty: all positions.
  std::vector<PositionRange> ranges = {};
  std::vector<bool> decodes_on_device = {};  ///< for each step after `batch`: whether devices do its decoding
  /// Batches stay on the host, and runners run the stages after `batch` in place.
  bool stages_in_place = false;
  std::shared_ptr<Trace> trace = {};  ///< the run's timeline; null: no timeline is kept
  RecordSkips* skips = nullptr;       ///< decides which samples of shared records are skipped; null: none
};

}  // namespace penstock::detail::runtime
