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

/// What all parts of a run are told. Made once, before anything runs; nothing of it changes.
struct RunSetup {
  std::shared_ptr<const PipelineData> data;
  MemoryPlan plan;
  MemoryResource* memory = &host_memory();
  std::shared_ptr<MemoryResource> buffer_memory;  ///< where fields of fixed sizes lie in batches; null: `memory`
  bool has_threads_alone = false;                 ///< nobody else uses the executor
  std::uint64_t epochs = 0;                       ///< 0 = no end
  bool keeps_places = false;                      ///< batches keep the places of a reordered pipeline's rows
  bool lists_all_bad = false;                     ///< bad samples keep what they say, however many there are
  std::vector<PositionRange> ranges = {};  ///< positions of which samples are made, ascending; none: all. For one epoch
  std::vector<bool> decodes_on_device = {};  ///< for each step after `batch`: it decodes, and its devices do it
  std::shared_ptr<Trace> trace = {};         ///< the run's timeline; null: none is kept
  RecordSkips* skips = nullptr;              ///< asked of each record that samples share, where there are some
};

}  // namespace penstock::detail::runtime
