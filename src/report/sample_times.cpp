// SPDX-License-Identifier: Apache-2.0
#include "report/sample_times.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>
#include <vector>

namespace penstock::detail::runtime {

namespace {

constexpr std::size_t most_files = 16;

// Returns a weighted quantile of the samples' times, in seconds. `sorted`: the samples, in ascending order of time.
double quantile_s(const std::vector<MeasuredSample>& sorted, double share) {
  double all = 0, before = 0;
  for (const MeasuredSample& sample : sorted) all += sample.weight;
  for (const MeasuredSample& sample : sorted)
    if (before += sample.weight; before > share * all) return static_cast<double>(sample.sample_ns) * 1e-9;
  return static_cast<double>(sorted.back().sample_ns) * 1e-9;
}

// Returns whether loading blocks takes more than half of the first stage's time. The first stage's time includes advice
// to the source.
bool loads_take_longest(const Report& r, const RunTotals& t) {
  double loads = 0, ns = 0;
  for (const MeasuredSample& load : t.load_times.run) {
    loads += load.weight;
    ns += load.weight * static_cast<double>(load.read_ns);
  }
  if (loads == 0) return false;
  const double each_us = ns / loads * 1e-3, samples = static_cast<double>(std::max<std::uint64_t>(t.kept, 1));
  const StageReport& reads = r.stages.front();
  return static_cast<double>(t.blocks.loads) * each_us / samples >
         0.5 * (reads.cpu_us_per_sample + reads.wait_us_per_sample);
}

// Returns the file of a record; empty if the source can't name the file.
std::string file_of(const SourceModel& source, std::uint64_t index) {
  try {
    return source.file_of(index);
  } catch (...) {
    return {};
  }
}

void fill_files(Report& r, const SourceModel& source, const RunTotals& t) {
  const bool of_blocks = loads_take_longest(r, t);
  const std::vector<MeasuredSample>& readings = of_blocks ? t.load_times.run : t.sample_times.run;
  struct Sum {
    std::uint64_t measured = 0;
    double readings = 0, ns = 0;
  };
  std::map<std::string, Sum> files;
  double all_ns = 0;
  std::uint64_t named = 0;
  for (const MeasuredSample& reading : readings) {
    if (reading.read_ns == 0) continue;
    const double ns = reading.weight * static_cast<double>(reading.read_ns);
    all_ns += ns;
    const std::string name = file_of(source, reading.index);
    if (name.empty()) continue;
    Sum& sum = files[name];
    ++sum.measured;
    ++named;
    sum.readings += reading.weight;
    sum.ns += ns;
  }
  // Compares files only if they have several measured readings on average. If each record is a file of its own, files
  // usually have fewer.
  constexpr std::uint64_t enough_each = 4;
  if (files.size() < 2 || named < enough_each * files.size()) return;
  for (const auto& [name, sum] : files)
    r.files.push_back({.name = name,
                       .measured = sum.measured,
                       .read_us = sum.ns / sum.readings * 1e-3,
                       .share = sum.ns / all_ns,
                       .of_blocks = of_blocks});
  std::ranges::sort(r.files, std::ranges::greater(), &FileReport::share);
  if (r.files.size() > most_files) r.files.resize(most_files);
}

}  // namespace

void fill_sample_times(Report& r, const SourceModel& source, const RunTotals& t) {
  if (t.sample_times.run.empty()) return;
  std::vector<MeasuredSample> samples = t.sample_times.run;
  std::ranges::sort(samples, {}, &MeasuredSample::sample_ns);
  r.sample_p50_s = quantile_s(samples, 0.5);
  r.sample_p99_s = quantile_s(samples, 0.99);
  if (source.is_stream()) return;
  try {
    fill_files(r, source, t);
  } catch (...) {  // no memory for the files; the rest of the report does not depend on them
    r.files.clear();
  }
}

// Requires a large difference, because with few measured records a file may seem slow by chance.
const FileReport* slow_file(const Report& r) {
  constexpr std::uint64_t enough = 3;
  const auto slowest =
      std::ranges::max_element(r.files, {}, [](const FileReport& f) { return f.measured >= enough ? f.read_us : 0; });
  if (slowest == r.files.end() || slowest->measured < enough) return nullptr;
  // `others_time`: the other files' share of all reading time. `others`: a number in proportion to how often the other
  // files were read.
  double others_time = 0, others = 0;
  for (const FileReport& f : r.files) {
    if (&f == &*slowest || f.read_us <= 0) continue;
    others_time += f.share;
    others += f.share / f.read_us;
  }
  return others != 0 && slowest->read_us >= 3 * others_time / others && slowest->share >= 0.2 ? &*slowest : nullptr;
}

}  // namespace penstock::detail::runtime
