#pragma once

#include <vector>

#include <penstock/report.hpp>

#include "engine/engine.hpp"
#include "engine/run_totals.hpp"

namespace penstock::detail::runtime {

/// Returns a row for each purpose of the run's memory.
std::vector<MemoryUse> memory_rows(const Engine& engine, const RunTotals& totals);

}  // namespace penstock::detail::runtime
