// SPDX-License-Identifier: Apache-2.0
#include "harness.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <thread>

#include <fmt/format.h>

namespace penstock::bench {

namespace {

struct Round {
  Timing ours, limit;
  double foreign = 0;
};

}  // namespace

Stopwatch::Stopwatch() : begun_(std::chrono::steady_clock::now()), cpu_begun_(cpu_seconds(RUSAGE_SELF)) {}
double Stopwatch::wall_s() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun_).count();
}
double Stopwatch::cpu_s() const { return cpu_seconds(RUSAGE_SELF) - cpu_begun_; }

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

void progress(const std::string& text) {
  static const bool terminal = ::isatty(STDERR_FILENO) == 1;
  if (terminal) fmt::print(stderr, "\r\033[K{}", text);
}

bool Row::reached() const {
  const double value = spec.judged == Judged::ratio ? ratio : ours;
  return spec.better == Better::higher ? value >= spec.goal : value <= spec.goal;
}

Row compare(const RowSpec& spec, const Settings& settings, const Side& ours, const Side& limit) {
  constexpr auto settle = std::chrono::milliseconds(5);  // time for the other side's threads to go to sleep
  const unsigned wanted = settings.quick ? 2 : settings.rounds;
  const unsigned max_tries = settings.quick ? 2 : 3 * wanted;
  Row row;
  row.spec = spec;
  if (spec.warm_up) {
    progress(spec.name + ": warming up");
    ours();
    limit();
  }
  std::vector<Round> quiet, loud;
  for (unsigned i = 0; i < max_tries && quiet.size() < wanted; ++i) {
    progress(fmt::format("{}: round {} of {}, {} dropped because of other load", spec.name, quiet.size() + 1, wanted,
                         loud.size()));
    Round round;
    const ForeignLoad foreign;
    const bool ours_first = i % 2 == 0;
    if (ours_first) round.ours = ours();
    std::this_thread::sleep_for(settle);
    round.limit = limit();
    std::this_thread::sleep_for(settle);
    if (!ours_first) round.ours = ours();
    round.foreign = foreign.cores();
    (settings.quick || round.foreign <= spec.max_foreign_cores ? quiet : loud).push_back(round);
  }
  progress("");

  row.dropped = static_cast<unsigned>(loud.size());
  if (quiet.size() < wanted) {
    row.quiet = false;
    std::sort(loud.begin(), loud.end(), [](const Round& a, const Round& b) { return a.foreign < b.foreign; });
    const std::size_t add = std::min<std::size_t>(wanted - quiet.size(), loud.size());
    row.dropped -= static_cast<unsigned>(add);
    quiet.insert(quiet.end(), loud.begin(), loud.begin() + static_cast<std::ptrdiff_t>(add));
  }
  std::vector<double> a, b, ratios, cpu_ratios;
  for (const Round& round : quiet) {
    a.push_back(round.ours.value);
    b.push_back(round.limit.value);
    ratios.push_back(round.ours.value / round.limit.value);
    if (round.limit.cpu_s > 0) cpu_ratios.push_back(round.ours.cpu_s / round.limit.cpu_s);
  }
  row.rounds = static_cast<unsigned>(quiet.size());
  row.ours = median(a);
  row.limit = median(b);
  row.ratio = median(ratios);
  row.low = *std::min_element(ratios.begin(), ratios.end());
  row.high = *std::max_element(ratios.begin(), ratios.end());
  row.cpu_ratio = median(cpu_ratios);
  return row;
}

}  // namespace penstock::bench
