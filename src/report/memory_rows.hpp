#pragma once

#include <vector>

#include <penstock/report.hpp>

#include "engine/engine.hpp"
#include "engine/run_totals.hpp"

namespace penstock::detail::runtime {

/// What the memory of a run is for: a row for each purpose that it has.
std::vector<MemoryRow> memory_rows(const Engine& engine, const RunTotals& totals);

}  // namespace penstock::detail::runtime
