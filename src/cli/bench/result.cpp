// SPDX-License-Identifier: Apache-2.0
#include "bench/result.hpp"

#include <algorithm>
#include <cstdint>
#include <initializer_list>

#include <penstock/extend/store_files.hpp>
#include <penstock/report.hpp>

#include "console/json_input.hpp"

namespace penstock::cli {

namespace {

// The most bytes of a result's file. They are enough for thousands of runs.
constexpr std::uint64_t max_bytes = std::uint64_t{1} << 30;

using FieldNames = std::initializer_list<const char*>;

bool has(const Json& of, const FieldNames& names) {
  return std::ranges::all_of(names, [&](const char* name) { return of.contains(name); });
}

bool has_numbers(const Json& of, const FieldNames& names) {
  return std::ranges::all_of(names, [&](const char* name) { return of.contains(name) && of.at(name).is_number(); });
}

// Returns a report with all optional members, and with one element in each list.
Json full_report() {
  Report report;
  report.runner_delay_share = report.caller_delay_share = report.own_core_share = report.other_core_share = 0.0;
  report.stages.resize(1);
  report.files.resize(1);
  report.memory.resize(1);
  report.devices.resize(1);
  report.notes.resize(1);
  report.sending.emplace();
  report.fetched.emplace();
  report.tuning.emplace().trials.resize(1);
  return json_or_null(report.json());
}

// Returns whether the fields that both `value` and `model` have are of the same kind. A field may be missing, because
// the report may come from an older or newer version.
bool is_like(const Json& value, const Json& model) {
  if (model.is_number()) return value.is_number();
  if (value.type() != model.type()) return false;
  if (model.is_array()) return std::ranges::all_of(value, [&](const Json& one) { return is_like(one, model.at(0)); });
  return !model.is_object() || std::ranges::all_of(model.items(), [&](const auto& field) {
    return !value.contains(field.key()) || is_like(value.at(field.key()), field.value());
  });
}

// Removes optional fields that are null.
Json without_nulls(Json report) {
  if (!report.is_object()) return report;
  const Json empty = json_or_null(Report().json());
  for (const auto& field : empty.items())
    if (field.value().is_null() && report.contains(field.key()) && report.at(field.key()).is_null())
      report.erase(field.key());
  return report;
}

// Returns whether `given` is a report with everything that the tool reads from a report.
bool is_report(const Json& given) {
  const Json report = without_nulls(given);
  static const Json model = full_report();
  if (!is_like(report, model) ||
      !has(report, {"verdict", "idle", "stages", "memory", "notes", "limit_samples_per_s", "consumer_wait_share",
                    "next_p50_s", "next_p99_s", "batches", "bytes", "runner_idle_share", "runner_wait_share"}))
    return false;
  const auto all_have = [](const Json& list, const FieldNames& names) {
    return std::ranges::all_of(list, [&](const Json& one) { return has(one, names); });
  };
  return !report.at("stages").empty() &&
         all_have(report.at("stages"),
                  {"name", "samples", "bytes", "cpu_us_per_sample", "wait_us_per_sample", "share"}) &&
         (!report.contains("tuning") ||
          (has(report.at("tuning"),
               {"end", "batches", "seconds", "threads", "depth", "max_reorder_bytes", "max_block_bytes", "trials"}) &&
           all_have(report.at("tuning").at("trials"),
                    {"setting", "why", "from", "to", "before_samples_per_s", "after_samples_per_s"})));
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
  if (json.is_object() && json.contains("runs")) {
    try {
      require_json_version(json, bench_result_version, "measure again");
    } catch (const Error& other) {
      throw UsageError(option + (option.empty() ? "" : ": ") + file + ": " + other.cause());
    }
  }
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
