// SPDX-License-Identifier: Apache-2.0
#include "bench/run.hpp"

#include <malloc.h>
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <thread>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <fmt/format.h>

#include <penstock/loader.hpp>

#include "bench/page_cache.hpp"
#include "console/output.hpp"
#include "console/progress.hpp"

namespace penstock::cli {

namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// Returns the CPU seconds of the whole process so far.
double process_cpu() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// Resets the peak of the process's resident memory to its present size. Returns false if the kernel can't do this.
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

// Adds the rows of each field in the schema's order, then the indices, then the mask. If a field is ragged, each row's
// shape comes before the row.
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

// Stands for the training on a batch: waits for `seconds`. A sleep may end late, by more time than a short training
// step takes. So the last part of the wait is a busy loop.
void consume(double seconds) {
  if (seconds <= 0) return;
  constexpr std::chrono::microseconds late{200};
  const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  std::this_thread::sleep_until(end - late);
  while (Clock::now() < end) {
  }
}

// Slices that a timeline keeps per line. They are enough for some seconds of a fast pipeline, and a browser can still
// open the file.
constexpr std::size_t trace_slices = 50'000;

// Divides a run into parts with the same number of batches; the last part may have fewer. The longer the run, the more
// batches a part has.
class RunIntervals {
 public:
  void add(const RunInterval& batch) {
    RunInterval& last = all_.empty() || batches_ == each_ ? all_.emplace_back() : all_.back();
    if (batches_ == each_) batches_ = 0;
    ++batches_;
    last.end_s = batch.end_s;
    last.samples += batch.samples;
    last.waited_s += batch.waited_s;
    if (all_.size() == most && batches_ == each_) merge();
  }
  std::vector<RunInterval> take() { return std::move(all_); }

 private:
  static constexpr std::size_t most = 200;
  void merge() {
    for (std::size_t i = 0; i < most / 2; ++i) {
      const RunInterval &first = all_[2 * i], &second = all_[2 * i + 1];
      all_[i] = {second.end_s, first.samples + second.samples, first.waited_s + second.waited_s};
    }
    all_.resize(most / 2);
    each_ *= 2;
    batches_ = each_;
  }
  std::vector<RunInterval> all_;
  std::uint64_t each_ = 1, batches_ = 0;  // batches in a full part, and in the last part
};

// Runs all epochs of one loader.
void run_epochs(Loader& loader, const RunOptions& options, std::uint64_t samples, Clock::time_point start, Run& run) {
  Hash batches, states;
  Progress progress(setting_text({.threads = options.setting.threads, .tune = options.setting.tune}),
                    samples * options.epochs, options.quiet);
  std::uint64_t rows = 0;
  RunIntervals moments;
  double done_s = since(start);
  for (std::uint64_t epoch = 0; epoch < options.epochs; ++epoch) {
    for (Batch& batch : loader.epoch()) {
      const double came_s = since(start);
      if (run.batches++ == 0) run.first_batch_s = run.construction_s + came_s;
      if (options.hash) {
        add_batch(batches, batch);
        const State state = loader.state();
        states.add(&state, sizeof(state));
      }
      consume(options.consumer_s);
      progress.set(rows += batch.size());
      moments.add({since(start), batch.size(), came_s - done_s});
      done_s = since(start);
    }
  }
  run.moments = moments.take();
  if (!options.hash) return;
  run.hash = batches.text();
  run.states_hash = states.text();
}

}  // namespace

std::string setting_text(const Setting& setting) {
  if (setting.tune) return "tuned";
  std::string text = counted(setting.threads, "thread");
  if (setting.depth != 0) text += fmt::format(", depth {}", setting.depth);
  if (setting.block_bytes != 0)
    text += fmt::format(", {} for blocks", bytes_text(static_cast<double>(setting.block_bytes)));
  return text;
}

Run run_once(const Pipeline& pipeline, const RunOptions& options) {
  Run run;
  run.setting = options.setting;
  run.epochs = options.epochs;
  // If the file can't be written, reports this before the run, which may be long.
  if (!options.trace.empty() && !std::ofstream(options.trace, std::ios::app))
    throw Error(Errc::io, "the file can't be written").with_file(options.trace);
  run.peak_is_of_run = reset_peak_rss();
  run.file_bytes = drop_pages(options.dropped_files);
  {
    run.began_s = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
    const std::uint64_t disk_before = disk_bytes_read();
    const Clock::time_point construction = Clock::now();
    Loader loader(pipeline, {.device = options.device,
                             .threads = options.setting.threads,
                             .max_memory_bytes = options.memory,
                             .depth = options.setting.depth,
                             .max_block_bytes = options.setting.block_bytes,
                             .tune = options.setting.tune,
                             .trace = options.trace.empty() ? 0 : trace_slices,
                             .epochs = options.epochs});
    const Clock::time_point start = Clock::now();
    const double cpu_before = process_cpu();
    run.construction_s = std::chrono::duration<double>(start - construction).count();
    run_epochs(loader, options, pipeline.size(), start, run);
    run.seconds = since(start);
    run.disk_bytes = disk_bytes_read() - disk_before;
    const double cpu_s = process_cpu() - cpu_before;
    run.report = loader.report();
    if (!options.trace.empty()) loader.write_trace(options.trace);
    run.samples = run.report.samples;
    // If the run tuned settings, the loader's report covers only the time after the last change of a setting.
    if (const auto& tuning = run.report.tuning) run.samples += tuning->samples;
    if (run.seconds > 0) {
      run.samples_per_s = static_cast<double>(run.samples) / run.seconds;
      run.consumer_busy = static_cast<double>(run.batches) * options.consumer_s / run.seconds;
    }
    if (run.samples != 0) run.cpu_s_per_1000 = 1000 * cpu_s / static_cast<double>(run.samples);
  }
  run.peak_rss_bytes = peak_rss_bytes();
  return run;
}

}  // namespace penstock::cli
