// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "engine/engine.hpp"
#include "engine/run_totals.hpp"
#include "report/delivery_counters.hpp"

namespace penstock::detail::runtime {

/// Returns notes on what a run's plan decided, and on what happened in the run. `share_of_loads`: share of the stages'
/// CPU time that loading blocks takes.
std::vector<std::string> run_notes(const Engine& engine, const RunTotals& totals, const DeliveryCounters& counters,
                                   double share_of_loads);

}  // namespace penstock::detail::runtime
