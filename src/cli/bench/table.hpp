// What bench prints of its runs.
#pragma once

#include <string>
#include <vector>

#include "bench/limits.hpp"
#include "bench/run.hpp"
#include "console/output.hpp"

namespace penstock::cli {

/// A run, and what is to be seen beside it.
struct MeasuredRun {
  Run run;
  Limits limits;
};

std::string table_header();
std::string table_line(const Run& run);
/// The best setting, by the median of its runs; the report of its run in the middle; hashes, where there are any.
std::string summary(const std::vector<MeasuredRun>& runs);
Json run_json(const MeasuredRun& measured);

}  // namespace penstock::cli
