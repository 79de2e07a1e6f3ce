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

/// What all parts of a run share. Set before anything runs; immutable from then on.
struct RunSetup {
  std::shared_ptr<const PipelineData> data;
  MemoryPlan plan;
  MemoryResource* memory = &host_memory();
  std::shared_ptr<MemoryResource> buffer_memory;  ///< memory of the fixed-size fields of batches; null: `memory`
  bool has_threads_alone = false;                 ///< no other code uses the executor
  std::uint64_t epochs = 0;                       ///< 0 = no limit
  bool keeps_places = false;                      ///< batches keep the places of a reordered pipeline's rows
  bool lists_all_bad = false;                     ///< bad samples keep their errors, however many there are
  std::vector<PositionRange> ranges = {};    ///< positions whose samples are made, ascending; empty: all. For one epoch
  std::vector<bool> decodes_on_device = {};  ///< per step after `batch`: it decodes, and its devices do the decoding
  std::shared_ptr<Trace> trace = {};         ///< the run's timeline; null: none is kept
  RecordSkips* skips = nullptr;              ///< asked for each record that samples share; null: no samples are skipped
};

}  // namespace penstock::detail::runtime
