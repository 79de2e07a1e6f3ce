// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "chain/step.hpp"
#include "pipeline/pipeline_data.hpp"

namespace penstock::detail::runtime {

// These functions make the steps that the chain's compiler adds by itself, not in a stage's `compile`. The arguments
// must outlive the steps.
std::unique_ptr<Step> make_read_step(const Schema& schema, std::string label);
std::unique_ptr<Step> make_cache_step(const BoundCache& cache, const SourceModel& source, const Schema& schema);
std::unique_ptr<Step> make_draws_step(const DeviceProgram& program, const Schema& schema);

}  // namespace penstock::detail::runtime
