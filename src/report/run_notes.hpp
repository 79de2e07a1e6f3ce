#pragma once

#include <string>
#include <vector>

#include "engine/engine.hpp"
#include "engine/run_totals.hpp"
#include "report/delivery_counters.hpp"

namespace penstock::detail::runtime {

/// What a run's plan decided and what went on in it, as far as that is worth a word.
/// `share_of_loads`: of the stages' CPU time, that which loading blocks takes.
std::vector<std::string> run_notes(const Engine& engine, const RunTotals& totals, const DeliveryCounters& counters,
                                   double share_of_loads);

}  // namespace penstock::detail::runtime
