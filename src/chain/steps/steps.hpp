// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "chain/step.hpp"
#include "pipeline/pipeline_data.hpp"

namespace penstock::detail::runtime {

// Steps that are not stages of the user. The arguments must outlive them.
std::unique_ptr<Step> make_read_step(const Schema& schema);
std::unique_ptr<Step> make_cache_step(const BoundCache& cache, const SourceModel& source, const Schema& schema);
std::unique_ptr<Step> make_draws_step(const DeviceProgram& program, const Schema& schema);

}  // namespace penstock::detail::runtime
