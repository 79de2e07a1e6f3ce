// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <penstock/report.hpp>

#include "engine/engine.hpp"
#include "engine/run_totals.hpp"

namespace penstock::detail::runtime {

/// Sets how long samples take, and how long reading from each file takes. Uses the samples that runners measured.
void fill_sample_times(Report& report, const SourceModel& source, const RunTotals& totals);

/// Returns the file whose records take much longer to read than the records of other files; null if no file stands out.
const FileReport* slow_file(const Report& report);

}  // namespace penstock::detail::runtime
