#include "bench_run.hpp"

#include <malloc.h>
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <fmt/format.h>

#include <penstock/loader.hpp>

#include "progress.hpp"

namespace penstock::cli {

namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// CPU seconds of the whole process so far.
double process_cpu() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// The peak so far is forgotten. False where the kernel can't.
bool reset_peak_rss() {
  ::malloc_trim(0);
  std::ofstream file("/proc/self/clear_refs");
  file << "5" << std::flush;
  return static_cast<bool>(file);
}

std::uint64_t peak_rss_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    unsigned long long kib = 0;
    if (std::sscanf(line.c_str(), "VmHWM: %llu kB", &kib) == 1) return kib << 10;
  }
  return 0;
}

class Hash {
 public:
  Hash() : state_(XXH3_createState(), XXH3_freeState) { XXH3_64bits_reset(state_.get()); }
  void add(const void* data, std::size_t bytes) { XXH3_64bits_update(state_.get(), data, bytes); }
  std::string text() const { return fmt::format("{:016x}", XXH3_64bits_digest(state_.get())); }

 private:
  std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state_;
};

// The rows of each field, in the schema's order, those that differ in size after their sizes; then indices, then mask.
void add_batch(Hash& hash, const Batch& batch) {
  for (const Field& field : batch.schema()) {
    if (field.collate.kind == Collate::Kind::ragged) {
      const RaggedRows rows = batch.ragged(field.name);
      for (std::uint64_t row = 0; row < rows.size(); ++row) {
        const TensorView value = rows[row];
        hash.add(value.shape.dims().data(), value.shape.dims().size_bytes());
        hash.add(value.data, value.bytes());
      }
    } else {
      const TensorView rows = batch[field.name];
      hash.add(rows.data, rows.bytes());
    }
  }
  hash.add(batch.indices().data(), batch.indices().size_bytes());
  hash.add(batch.mask().data(), batch.mask().size_bytes());
}

}  // namespace

Run run_once(const Pipeline& pipeline, const RunOptions& options) {
  Run run;
  run.threads = options.threads;
  run.peak_is_of_run = reset_peak_rss();
  Hash batches, states;
  {
    const double cpu_before = process_cpu();
    const Clock::time_point start = Clock::now();
    Loader loader(pipeline, {.threads = options.threads,
                             .max_memory_bytes = options.memory,
                             .depth = options.depth,
                             .epochs = options.epochs});
    Progress progress(fmt::format("{} thread{}", options.threads, options.threads == 1 ? "" : "s"),
                      pipeline.size() * options.epochs, options.quiet);
    std::uint64_t rows = 0;
    bool first = true;
    for (std::uint64_t epoch = 0; epoch < options.epochs; ++epoch) {
      for (Batch& batch : loader.epoch()) {
        if (std::exchange(first, false)) run.first_batch_s = since(start);
        if (options.hash) {
          add_batch(batches, batch);
          const State state = loader.state();
          states.add(&state, sizeof(state));
        }
        progress.set(rows += batch.size());
      }
    }
    run.seconds = since(start);
    run.report = loader.report();
    run.samples = run.report.samples;
    if (run.seconds > 0) run.samples_per_s = static_cast<double>(run.samples) / run.seconds;
    if (run.samples != 0) run.cpu_s_per_1000 = 1000 * (process_cpu() - cpu_before) / static_cast<double>(run.samples);
  }
  run.peak_rss_bytes = peak_rss_bytes();
  if (options.hash) {
    run.hash = batches.text();
    run.states_hash = states.text();
  }
  return run;
}

}  // namespace penstock::cli
