// SPDX-License-Identifier: Apache-2.0
// The text that bench prints about its runs.
#pragma once

#include <string>
#include <vector>

#include "bench/comparison_rates.hpp"
#include "bench/run.hpp"
#include "console/output.hpp"

namespace penstock::cli {

/// A run, and the rates to compare it with.
struct MeasuredRun {
  Run run;
  ComparisonRates limits;
};

std::string table_header();
std::string table_line(const Run& run);
/// Describes the setting whose median run is the fastest, that run's report, and the hashes, if there are any.
std::string summary(const std::vector<MeasuredRun>& runs);
Json run_json(const MeasuredRun& measured);

}  // namespace penstock::cli
