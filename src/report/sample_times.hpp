#pragma once

#include <penstock/report.hpp>

#include "engine/engine.hpp"
#include "engine/run_totals.hpp"

namespace penstock::detail::runtime {

/// From the chains that were measured one by one: how long samples take, and what reading takes in each file.
void fill_sample_times(Report& report, const SourceModel& source, const RunTotals& totals);

/// The file whose records take much longer to read than those of the others; null where there is none.
const FileReport* slow_file(const Report& report);

}  // namespace penstock::detail::runtime
