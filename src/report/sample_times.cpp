#include "report/sample_times.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>
#include <vector>

namespace penstock::detail {

namespace {

constexpr std::size_t most_files = 16;

double quantile(const std::vector<double>& sorted, double share) {
  return sorted[std::min(sorted.size() - 1, static_cast<std::size_t>(share * static_cast<double>(sorted.size())))];
}

bool loads_take_longest(const RunTotals& t) {
  const auto ns = [](const RunTotals::StepTotals& step) { return step.cpu_ns + step.wait_ns; };
  return !t.measured_loads.empty() && ns(t.loads) > ns(t.steps.front());
}

void fill_files(Report& r, const SourceModel& source, const RunTotals& t) {
  const bool of_blocks = loads_take_longest(t);
  const std::vector<MeasuredSample>& readings = of_blocks ? t.measured_loads : t.measured_samples;
  struct Sum {
    std::uint64_t measured = 0;
    double readings = 0, ns = 0;
  };
  std::map<std::string, Sum> files;
  double all_ns = 0;
  for (const MeasuredSample& reading : readings) {
    if (reading.read_ns == 0) continue;
    Sum& sum = files[source.file_of(reading.index)];
    const double weight = static_cast<double>(reading.stands_for), ns = weight * static_cast<double>(reading.read_ns);
    ++sum.measured;
    sum.readings += weight;
    sum.ns += ns;
    all_ns += ns;
  }
  // Where each record is a file of its own, one of them says nothing.
  constexpr std::uint64_t enough_each = 4;
  if (files.size() < 2 || readings.size() < enough_each * files.size()) return;
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
  if (t.measured_samples.empty()) return;
  std::vector<double> seconds;
  for (const MeasuredSample& sample : t.measured_samples)
    seconds.push_back(static_cast<double>(sample.sample_ns) * 1e-9);
  std::ranges::sort(seconds);
  r.sample_p50_s = quantile(seconds, 0.5);
  r.sample_p99_s = quantile(seconds, 0.99);
  if (source.is_stream()) return;
  try {
    fill_files(r, source, t);
  } catch (...) {  // a source that can't name its files; what else there is to report does not depend on it
    r.files.clear();
  }
}

// The slowest by far: of a few measured records one may have been unlucky.
const FileReport* slow_file(const Report& r) {
  constexpr std::uint64_t enough = 3;
  const auto slowest =
      std::ranges::max_element(r.files, {}, [](const FileReport& f) { return f.measured >= enough ? f.read_us : 0; });
  if (slowest == r.files.end() || slowest->measured < enough) return nullptr;
  double others_us = 0, others = 0;
  for (const FileReport& f : r.files) {
    if (&f == &*slowest) continue;
    others_us += f.read_us * static_cast<double>(f.measured);
    others += static_cast<double>(f.measured);
  }
  return others != 0 && slowest->read_us >= 3 * others_us / others && slowest->share >= 0.2 ? &*slowest : nullptr;
}

}  // namespace penstock::detail
