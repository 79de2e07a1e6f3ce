// SPDX-License-Identifier: Apache-2.0
#include "bench/table.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace penstock::cli {

namespace {

std::string hash_line(const std::vector<MeasuredRun>& runs) {
  const std::string& first = runs.front().run.hash;
  if (first.empty()) return "";
  const bool same = std::ranges::all_of(runs, [&](const MeasuredRun& m) { return m.run.hash == first; });
  return fmt::format("hash {}{}\n", first,
                     runs.size() == 1 ? ""
                     : same           ? ", the same in all runs"
                                      : ", but it DIFFERS between runs");
}

std::string consumer_line(const Run& run) {
  return run.consumer_busy == 0 ? ""
                                : fmt::format("the consumer was busy {:.1f} % of the time\n", 100 * run.consumer_busy);
}

std::string cold_line(const Run& run) {
  if (run.file_bytes == 0) return "";
  const auto size = [](std::uint64_t bytes) { return bytes_text(static_cast<double>(bytes)); };
  std::string text =
      fmt::format("cold: {} of the files' {} came from the disk\n", size(run.disk_bytes), size(run.file_bytes));
  if (run.disk_bytes < run.file_bytes / 10)
    text +=
        "  which is next to nothing: the pages stayed in memory (a file system in memory, or another process has the "
        "files open), or the run has hardly read any\n";
  return text;
}

}  // namespace

std::string table_header() {
  return fmt::format(
      "{:>7}  {:>10}  {:>14}  {:>11}  {:>17}  {:>10}  {:>6}  {:>12}  {:>6}  {:>6}\n{:>7}  {:>10}  {:>14}  {:>11}  "
      "{:>17}  {:>10}  {:>6}  {:>12}  {:>6}  {:>6}\n",
      "threads", "images/s", "CPU s / 1,000", "first batch", "next() p50, p99", "peak RSS", "errors", "chain limit",
      "share", "others", "", "", "process, chain", "ms", "ms", "", "", "images/s", "%", "%");
}

std::string table_line(const Run& run) {
  const double limit = run.report.limit_samples_per_s;
  const std::string others =
      run.report.other_core_share ? fmt::format("{:.0f}", 100 * *run.report.other_core_share) : "-";
  std::string text = fmt::format(
      "{:>7}  {:>10.0f}  {:>6.3f}, {:>6.3f}  {:>11.1f}  {:>8.3f}, {:>7.3f}  {:>10}  {:>6}  {:>12.0f}  {:>6.0f}  {:>6}",
      run.report.threads, run.samples_per_s, run.cpu_s_per_1000, run.report.cpu_s_per_1000, run.first_batch_s * 1e3,
      run.report.next_p50_s * 1e3, run.report.next_p99_s * 1e3, bytes_text(static_cast<double>(run.peak_rss_bytes)),
      run.report.errors, limit, limit > 0 ? std::min(100 * run.samples_per_s / limit, 100.0) : 0.0, others);
  if (const auto& tuning = run.report.tuning)
    text += tuning->done
                ? fmt::format("  tuned, {:.0f} images/s after {:.1f} s", run.report.samples_per_s, tuning->seconds)
                : "  not tuned to the end";
  else if (run.setting.depth != 0 || run.setting.block_bytes != 0)
    text += "  " + setting_text(run.setting);
  return text + "\n";
}

// Returns a remark if the run was so short that it shows mostly how a run begins. If the files' pages were dropped, the
// remark does not advise more epochs, because only the first epoch reads the files from the disk.
std::string short_line(const Run& run) {
  constexpr double long_enough_s = 0.5, better_s = 5;
  if (run.seconds >= long_enough_s) return "";
  const double each_s = std::max(run.seconds / static_cast<double>(std::max<std::uint64_t>(run.epochs, 1)), 1e-6);
  const std::string longer = run.file_bytes != 0 ? " a larger store says more"
                                                 : fmt::format(" --epochs {:.0f} would take about {:.0f} s",
                                                               std::min(std::ceil(better_s / each_s), 1e6), better_s);
  return fmt::format("\nThis run of {:.2f} s was too short for its figures to be sure:{}\n", run.seconds, longer);
}

std::string summary(const std::vector<MeasuredRun>& runs) {
  // Each setting is represented by its median run.
  std::vector<const MeasuredRun*> middles;
  std::vector<Setting> settings;
  for (const MeasuredRun& m : runs)
    if (std::ranges::find(settings, m.run.setting) == settings.end()) settings.push_back(m.run.setting);
  for (const Setting& setting : settings) {
    std::vector<const MeasuredRun*> same;
    for (const MeasuredRun& m : runs)
      if (m.run.setting == setting) same.push_back(&m);
    const auto middle = same.begin() + static_cast<std::ptrdiff_t>(same.size() / 2);
    std::ranges::nth_element(same, middle, {}, [](const MeasuredRun* m) { return m->run.samples_per_s; });
    middles.push_back(*middle);
  }
  const MeasuredRun& best =
      **std::ranges::max_element(middles, {}, [](const MeasuredRun* m) { return m->run.samples_per_s; });
  const bool rounds = runs.size() > settings.size();
  std::string out;
  if (runs.size() > 1)
    out += fmt::format("\n{}: {}, {:.0f} samples/s{}\n", settings.size() > 1 ? "best" : "median",
                       setting_text(best.run.setting), best.run.samples_per_s,
                       rounds && settings.size() > 1 ? " by the median of its rounds" : "");
  out +=
      fmt::format("\nbeside it, with {}: {}copying alone {:.0f} rows/s\n", counted(best.run.report.threads, "thread"),
                  best.limits.read > 0 ? fmt::format("reading alone {:.0f} records/s, ", best.limits.read) : "",
                  best.limits.memcpy);
  return out + consumer_line(best.run) + cold_line(best.run) + "\n" + best.run.report.text() + hash_line(runs) +
         short_line(best.run);
}

namespace {

// Returns three numbers for each part: when it ended, in seconds since the loader was constructed; samples per second;
// and the share of the time in which the loop waited.
Json over_time(const Run& run) {
  Json all = Json::array();
  double begin_s = 0;
  for (const RunInterval& m : run.moments) {
    const double seconds = std::max(m.end_s - begin_s, 1e-9);
    all.push_back({m.end_s, static_cast<double>(m.samples) / seconds, std::min(m.waited_s / seconds, 1.0)});
    begin_s = m.end_s;
  }
  return all;
}

}  // namespace

Json run_json(const MeasuredRun& measured) {
  const Run& run = measured.run;
  const auto text_or_null = [](const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); };
  return {{"threads", run.setting.tune ? run.report.threads : run.setting.threads},
          {"depth", run.setting.depth},
          {"block_bytes", run.setting.block_bytes},
          {"tune", run.setting.tune},
          {"began_s", run.began_s},
          {"samples_per_s", run.samples_per_s},
          {"cpu_s_per_1000", run.cpu_s_per_1000},
          {"construction_s", run.construction_s},
          {"first_batch_s", run.first_batch_s},
          {"peak_rss_bytes", run.peak_rss_bytes},
          {"next_p50_s", run.report.next_p50_s},
          {"next_p99_s", run.report.next_p99_s},
          {"errors", run.report.errors},
          {"hash", text_or_null(run.hash)},
          {"states_hash", text_or_null(run.states_hash)},
          {"limits",
           {{"chain_samples_per_s", run.report.limit_samples_per_s},
            {"read_samples_per_s", measured.limits.read},
            {"memcpy_samples_per_s", measured.limits.memcpy}}},
          {"samples", run.samples},
          {"seconds", run.seconds},
          {"consumer_busy", run.consumer_busy},
          {"disk_bytes", run.disk_bytes},
          {"file_bytes", run.file_bytes},
          {"chain_cpu_s_per_1000", run.report.cpu_s_per_1000},
          {"peak_rss_is_of_run", run.peak_is_of_run},
          {"over_time", over_time(run)},
          {"report", Json::parse(run.report.json())}};
}

}  // namespace penstock::cli
