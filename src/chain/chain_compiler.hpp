#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "chain/step.hpp"
#include "data/row_layout.hpp"
#include "pipeline/pipeline_data.hpp"

namespace penstock::detail {

/// A pipeline's per-sample part as steps, in order. The first one reads.
struct ChainProgram {
  std::vector<std::unique_ptr<Step>> steps;
  std::size_t children_begin = 0;  ///< number of the step that a child begins with; 0: samples have no parents
  std::size_t cache_step = 0;      ///< number of the step that is a cache; 0: there is none
  std::size_t shared_draws = 0;    ///< of image stages with several fields
};

/// `layout`: of the batch; null without one. `data` must outlive the program.
/// @throws Error(limit_exceeded) for a field of fixed size that is larger than the pipeline allows.
ChainProgram compile_chain(const PipelineData& data, const RowLayout* layout);

}  // namespace penstock::detail
