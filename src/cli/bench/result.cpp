#include "bench/result.hpp"

#include <algorithm>
#include <cstdint>

#include <penstock/extend/store_files.hpp>

#include "console/json_input.hpp"

namespace penstock::cli {

namespace {

// Thousands of runs.
constexpr std::uint64_t max_bytes = std::uint64_t{1} << 30;

bool has_numbers(const Json& of, std::initializer_list<const char*> names) {
  return std::ranges::all_of(names, [&](const char* name) { return of.contains(name) && of.at(name).is_number(); });
}

bool is_stage(const Json& stage) {
  return stage.is_object() && stage.contains("name") && stage.at("name").is_string() &&
         has_numbers(stage, {"samples", "bytes", "cpu_us_per_sample", "wait_us_per_sample", "share"});
}

bool is_trial(const Json& trial) {
  const auto has_text = [&](const char* name) { return trial.contains(name) && trial.at(name).is_string(); };
  return trial.is_object() && has_text("setting") && has_text("why") &&
         has_numbers(trial, {"from", "to", "before_samples_per_s", "after_samples_per_s"});
}

// Only runs that were tuned have it.
bool is_tuning(const Json& tuning) {
  if (tuning.is_null()) return true;
  return tuning.is_object() && tuning.contains("end") && tuning.at("end").is_string() && tuning.contains("steps") &&
         tuning.at("steps").is_array() && std::ranges::all_of(tuning.at("steps"), is_trial) &&
         has_numbers(tuning, {"batches", "seconds", "threads", "depth", "max_reorder_bytes", "max_block_bytes"});
}

bool is_report(const Json& report) {
  const auto is = [&](const char* name, bool (Json::*kind)() const noexcept) {
    return report.contains(name) && (report.at(name).*kind)();
  };
  return report.is_object() && is("verdict", &Json::is_string) && is("idle", &Json::is_object) &&
         is("stages", &Json::is_array) && !report.at("stages").empty() && is("memory", &Json::is_array) &&
         is("notes", &Json::is_array) && std::ranges::all_of(report.at("stages"), is_stage) &&
         has_numbers(report, {"limit_samples_per_s", "consumer_wait_share", "next_p50_s", "next_p99_s", "batches",
                              "bytes", "runner_idle_share", "runner_wait_share"}) &&
         is_tuning(report.value("tuning", Json()));
}

bool is_run(const Json& run) {
  return has_counts(run, {"threads"}) &&
         has_numbers(run, {"threads", "depth", "block_bytes", "began_s", "samples_per_s", "cpu_s_per_1000",
                           "peak_rss_bytes", "consumer_busy", "file_bytes"}) &&
         run.contains("hash") && run.contains("report") && is_report(run.at("report"));
}

}  // namespace

Json read_bench_result(const std::string& file, const std::string& option) {
  Json json = json_or_null(read_text(file, "result of bench", max_bytes).value_or(""));
  const bool good = json.is_object() && json.contains("runs") && json.at("runs").is_array() &&
                    !json.at("runs").empty() && std::ranges::all_of(json.at("runs"), is_run);
  if (!good)
    throw UsageError(option + (option.empty() ? "" : ": ") + file + " is no result of penstock bench --json FILE");
  const auto counts_construction = [](const Json& run) { return !has_numbers(run, {"construction_s"}); };
  if (!option.empty() && std::ranges::any_of(json.at("runs"), counts_construction))
    throw UsageError(option + ": " + file +
                     " is of an older penstock, whose rates count the loader's construction; measure it again");
  return json;
}

}  // namespace penstock::cli
