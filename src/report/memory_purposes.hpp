// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <penstock/report.hpp>

#include "engine/engine.hpp"
#include "engine/run_totals.hpp"

namespace penstock::detail::runtime {

/// Returns one element for each purpose of the run's memory.
std::vector<MemoryPurpose> memory_purposes(const Engine& engine, const RunTotals& totals);

}  // namespace penstock::detail::runtime
