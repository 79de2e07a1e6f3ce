#pragma once

#include <penstock/report.hpp>

#include "delivery/delivery.hpp"
#include "engine/engine.hpp"
#include "report/run_mark.hpp"

namespace penstock::detail {

/// Turns counters into numbers, and numbers into words.
Report make_report(const Engine& engine, const Delivery& delivery, const RunMark& run);

}  // namespace penstock::detail
