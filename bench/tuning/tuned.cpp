// SPDX-License-Identifier: Apache-2.0
// tuned [--seconds S] [--rounds N] [NAME...]: compares a loader that chooses its own settings with the best loader of a
// sweep over settings. Each job is measured with each setting for S seconds (default 1), N times (default 3), in turns.
// The time that a loader needs to get going is not counted. Medians are compared. The last line is "N of N at 0.95 or
// more". The exit status is 1 if a ratio is below 0.95. Needs a machine with at least two cores and nothing else to do.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <penstock/penstock.hpp>

#include "bottlenecks/planted.hpp"

namespace {

namespace ps = penstock;
using namespace bottlenecks;
using Clock = std::chrono::steady_clock;

constexpr double bar = 0.95;
constexpr std::uint64_t many = std::uint64_t{1} << 40;

double since(Clock::time_point begun) { return std::chrono::duration<double>(Clock::now() - begun).count(); }

struct Job {
  const char* name;
  ps::Pipeline pipeline;
  std::vector<ps::LoaderOptions> sweep;
  double caller_us = 0;  ///< how long the caller computes with each batch
  double begin_s = 0.5;  ///< seconds until a run is steady
};

std::vector<ps::LoaderOptions> threads(std::initializer_list<unsigned> counts) {
  std::vector<ps::LoaderOptions> all;
  for (const unsigned count : counts) all.push_back({.threads = count});
  return all;
}

std::vector<Job> jobs() {
  std::vector<Job> all;
  const Source source{many};
  all.push_back({"computing", ps::from(source) | work([](std::int64_t) { spin_us(300); }) | ps::batch(16),
                 threads({1, 2, 3, 4})});
  all.push_back({"waiting", ps::from(Source{many, [](std::uint64_t) { sleep_us(1000); }}) | work([](std::int64_t) {
                              spin_us(50);
                            }) | ps::batch(16),
                 threads({1, 2, 4, 8, 16})});
  all.push_back({"a busy caller", ps::from(source) | work([](std::int64_t) { spin_us(300); }) | ps::batch(8),
                 threads({1, 2, 4}), 2000});
  const auto uneven = [](std::int64_t i) { sleep_us(i % 100 == 7 ? 30'000 : 300); };
  std::vector<ps::LoaderOptions> depths, cells;
  for (const unsigned count : {1u, 4u, 16u}) {
    for (const unsigned depth : {4u, 16u, 64u}) depths.push_back({.threads = count, .depth = depth});
    for (const std::size_t bytes : {512u, 8192u, 32768u})
      cells.push_back({.threads = count, .max_reorder_bytes = bytes});
  }
  all.push_back({"slow samples", ps::from(source) | work(uneven) | ps::batch(8), depths});
  all.push_back({"slow samples, filtered",
                 ps::from(source) | work(uneven) | ps::filter([](const ps::Sample&) { return true; }) | ps::batch(8),
                 cells});
  // Reads 800 MiB of blocks at random. By default, 512 MiB of blocks are kept.
  std::vector<ps::LoaderOptions> blocks;
  for (const std::size_t mib : {256u, 512u, 1024u})
    for (const unsigned count : {1u, 2u}) blocks.push_back({.threads = count, .max_block_bytes = mib << 20});
  all.push_back({"blocks",
                 ps::from(Blocks{.count = 6400, .each = 8, .cost_us = 400}) | ps::shuffle({.seed = 1}) |
                     work([](std::int64_t) { spin_us(50); }) | ps::batch(8),
                 blocks, 0, 3});
  return all;
}

// Returns the samples per second, measured for `seconds` seconds.
double rate_of(ps::Loader& loader, const Job& job, double seconds) {
  const Clock::time_point begun = Clock::now();
  std::uint64_t samples = 0;
  while (since(begun) < seconds) {
    const std::optional<ps::Batch> batch = loader.next();
    if (!batch) continue;
    samples += batch->size();
    if (job.caller_us != 0) spin_us(job.caller_us);
  }
  return static_cast<double>(samples) / since(begun);
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

std::string text_of(const ps::LoaderOptions& o) {
  std::string text = std::to_string(o.threads) + " threads";
  if (o.depth != 0) text += ", depth " + std::to_string(o.depth);
  if (o.max_reorder_bytes != 0) text += ", " + std::to_string(o.max_reorder_bytes) + " bytes for samples that wait";
  if (o.max_block_bytes != 0) text += ", " + std::to_string(o.max_block_bytes >> 20) + " MiB for blocks";
  return text;
}

bool measure(const Job& job, double seconds, int rounds) {
  std::printf("%s\n", job.name);
  ps::Loader tuned(job.pipeline, {.tune = true});
  const Clock::time_point begun = Clock::now();
  while (!tuned.report().tuning->done && since(begun) < 120) rate_of(tuned, job, 0.1);
  const ps::TuneReport tuning = tuned.report().tuning.value();
  std::vector<double> of_tuned;
  std::vector<std::vector<double>> of_sweep(job.sweep.size());
  for (int round = 0; round < rounds; ++round) {
    rate_of(tuned, job, 0.2);
    of_tuned.push_back(rate_of(tuned, job, seconds));
    for (std::size_t i = 0; i < job.sweep.size(); ++i) {
      ps::Loader loader(job.pipeline, job.sweep[i]);
      rate_of(loader, job, job.begin_s);
      of_sweep[i].push_back(rate_of(loader, job, seconds));
    }
  }
  double best = 0;
  for (std::size_t i = 0; i < job.sweep.size(); ++i) {
    const double rate = median(of_sweep[i]);
    best = std::max(best, rate);
    std::printf("  %8.0f samples/s  %s\n", rate, text_of(job.sweep[i]).c_str());
  }
  const double ratio = median(of_tuned) / best;
  std::printf(
      "  %8.0f samples/s  tuned: %u threads, depth %u, %llu bytes for samples that wait, %llu MiB for blocks, after "
      "%.1f s and %zu trials%s\n"
      "     %.3f of the best\n",
      median(of_tuned), tuning.threads, tuning.depth, static_cast<unsigned long long>(tuning.max_reorder_bytes),
      static_cast<unsigned long long>(tuning.max_block_bytes >> 20), tuning.seconds, tuning.trials.size(),
      tuning.done ? "" : ", NOT DONE", ratio);
  for (const ps::TuneTrial& s : tuning.trials)
    std::printf("       %s %llu -> %llu: %.0f -> %.0f, %s (%s)\n", s.setting.c_str(),
                static_cast<unsigned long long>(s.from), static_cast<unsigned long long>(s.to), s.before_samples_per_s,
                s.after_samples_per_s, s.kept ? "kept" : "not kept", s.why.c_str());
  std::fflush(stdout);
  return tuning.done && ratio >= bar;
}

int run(int argc, char** argv) {
  double seconds = 1;
  int rounds = 3;
  std::vector<std::string> names;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--seconds") == 0 && i + 1 < argc)
      seconds = std::atof(argv[++i]);
    else if (std::strcmp(argv[i], "--rounds") == 0 && i + 1 < argc)
      rounds = std::max(1, std::atoi(argv[++i]));
    else
      names.emplace_back(argv[i]);
  }
  int good = 0, all = 0;
  for (const Job& job : jobs()) {
    if (!names.empty() && std::ranges::find(names, job.name) == names.end()) continue;
    ++all;
    good += measure(job, seconds, rounds);
  }
  std::printf("%d of %d at %.2f or more\n", good, all, bar);
  return all != 0 && good == all ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return EXIT_FAILURE;
  }
}
