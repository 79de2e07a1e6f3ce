// SPDX-License-Identifier: Apache-2.0
// bottlenecks [--runs N | --quick] [NAME...]: plants one bottleneck after the other in a pipeline, and checks that the
// loader's report names it. The last line is "N of N right". The exit status is 1 if a report is wrong. Without names,
// plants every bottleneck. Without --runs, plants each three times. Needs a machine with at least two cores and nothing
// else to do.
// --quick: plants each bottleneck once. If the report is wrong, plants it up to twice more. Leaves out the predicted
// gains and the cold disk. If other processes had the cores during most of the wrong reports of a bottleneck, the
// bottleneck is not judged. The exit status is 77 if too many bottlenecks were not judged, or if this machine can't
// measure who has the cores.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <penstock/emulated_gpu.hpp>
#include <penstock/extend/device_stage.hpp>
#include <penstock/sources/hdf5.hpp>
#include <penstock/sources/lmdb.hpp>

#include "foreign_load.hpp"
#include "planted.hpp"

namespace bottlenecks {

namespace {

using ps::Bound;

// How long each pipeline is run.
double seconds_of_run = 1.5;

struct Job {
  ps::LoaderOptions options = {.threads = 2};
  double caller_us = 0;  ///< how long the caller computes with each batch
  double seconds = seconds_of_run;
};

ps::Report run(const ps::Pipeline& pipeline, const Job& job) {
  ps::Loader loader(pipeline, job.options);
  const auto begun = std::chrono::steady_clock::now();
  std::optional<ps::Batch> held;  // until the next batch has come
  while (std::optional<ps::Batch> batch = loader.next()) {
    held = std::move(batch);
    if (job.caller_us != 0) spin_us(job.caller_us);
    if (std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count() > job.seconds) break;
  }
  return loader.report();
}

constexpr std::uint64_t many = 1u << 20;

ps::Stage computing(double us) {
  return work([us](std::int64_t) { spin_us(us); });
}

// Like `computing`, but makes a value of 128 KiB from each value.
ps::Stage enlarged(double us) {
  const auto enlarge = [us](ps::View<const std::int64_t, 0> in, ps::View<std::int64_t, 1> out) {
    spin_us(us);
    out(0) = in();
  };
  return ps::map("x", enlarge, {.name = "planted_stage", .shape = ps::Shape{1 << 14}});
}

// Takes batches on a stream of the caller. Puts work of `work_us` on this stream for each batch, and does not wait for
// it.
ps::Report run_on(ps::EmulatedGpu& gpu, double work_us, const ps::Pipeline& pipeline) {
  ps::EmulatedGpu::Stream stream = gpu.make_stream("consumer");
  ps::Loader loader(pipeline, {.device = gpu.device(), .threads = 2});
  const auto begun = std::chrono::steady_clock::now();
  while (const std::optional<ps::Batch> batch = loader.next(stream.ref())) {
    if (work_us != 0) stream.launch("work", [work_us] { sleep_us(work_us); });
    if (std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count() > seconds_of_run) break;
  }
  const ps::Report report = loader.report();
  stream.synchronize();
  return report;
}

struct Case {
  const char* name;
  Bound expected;
  const char* named;  ///< what the verdict must name
  std::function<ps::Report()> run;
  std::function<bool(const ps::Report&)> also = {};  ///< accepts other right reports; none: there are no others
  bool only_whole = false;  ///< writes much to the disk or takes long, so it is left out of a quick run
  std::function<bool(const ps::Report&)> must = {};  ///< a further condition for every report
  bool right(const ps::Report& r) const {
    if (must && !must(r)) return false;
    return (r.bound == expected && r.verdict.find(named) != std::string::npos) || (also && also(r));
  }
};

// Accepts the report of a fast disk, where the kernel's work to read takes longer than the waiting.
bool reading_is_to_blame(const ps::Report& r) {
  return r.bound == Bound::cpu && r.verdict.find("; read takes") != std::string::npos &&
         r.besides.find(" in read, not computing") != std::string::npos;
}

ps::Report straggler() {
  const ps::Pipeline p =
      ps::from(Source{many}) | work([](std::int64_t i) { spin_us(i % 100 == 7 ? 60'000 : 300); }) | ps::batch(8);
  return run(p, {});
}

ps::Report slow_file() {
  const Source source{
      .count = many, .cost = [](std::uint64_t i) { sleep_us(i % 10 == 3 ? 10'000 : 300); }, .files = 10};
  return run(ps::from(source) | ps::shuffle({.seed = 3}) | computing(100) | ps::batch(8), {});
}

ps::Report slow_file_of_blocks() {
  const Blocks source{
      .count = many, .each = 8, .wait = [](std::uint64_t b) { sleep_us(b % 10 == 3 ? 40'000 : 1'000); }, .files = 10};
  return run(ps::from(source) | computing(100) | ps::batch(8), {});
}

ps::Report lock() {
  const auto mutex = std::make_shared<std::mutex>();
  const ps::Pipeline p = ps::from(Source{many}) | work([mutex](std::int64_t) {
                           const std::lock_guard held(*mutex);
                           spin_us(500);
                         }) |
                         ps::batch(8);
  return run(p, {});
}

ps::Report neighbours() {
  const Neighbours others(std::thread::hardware_concurrency());
  return run(ps::from(Source{many}) | computing(500) | ps::batch(8), {});
}

// A dataset that stays in memory is decompressed when a record is first asked for.
ps::Report kept_dataset() {
  const KeptDataset store(32'768, 4 << 10);
  return run(ps::from(ps::Hdf5{.path = store.path(), .max_kept_bytes = 256u << 20}) | ps::batch(64),
             {.options = {.threads = 2, .epochs = 1}});
}

// Two runners are faster than one runner, but because `depth` is set, one of them has nothing to do half of the time.
ps::Report fixed_depth() {
  return run(ps::from(Source{many}) | work([](std::int64_t i) { spin_us(i % 2 == 0 ? 1'000 : 4'000); }) | ps::batch(2),
             {.options = {.depth = 2, .tune = true}, .seconds = 12});
}

// Only settings that the caller has fixed limit the speed, so there is nothing to tune.
ps::Report nothing_to_tune() {
  return run(ps::from(Source{many}) | computing(2'000) | ps::batch(1),
             {.options = {.threads = 2, .depth = 2, .tune = true}});
}

bool depth_is_named(const ps::Report& r) {
  return r.bound == Bound::stragglers && r.verdict.find("depth") != std::string::npos;
}

// The executor has fewer threads than the machine has cores.
ps::Report small_executor() {
  return run(ps::from(Source{many}) | computing(1'000) | ps::batch(8),
             {.options = {.executor = ps::Executor(1), .tune = true}, .seconds = 12});
}

std::function<bool(const ps::Report&)> tuning_says(const char* words) {
  return [words](const ps::Report& r) { return r.tuning && r.tuning->end.find(words) != std::string::npos; };
}

ps::Report entries() {
  const ps::Pipeline p = ps::from(Source{many}) | work([](std::int64_t i) { spin_us(i % 50 == 7 ? 30'000 : 300); }) |
                         ps::filter([](const ps::Sample&) { return true; }) | ps::batch(64);
  return run(p, {.options = {.threads = 2, .max_reorder_bytes = 1}});
}

ps::Report block_memory() {
  const ps::Pipeline p =
      ps::from(Blocks{.count = 4096, .each = 8, .cost_us = 1000}) | ps::shuffle({.seed = 1}) | ps::batch(8);
  return run(p, {.options = {.threads = 2, .max_block_bytes = (3u << 20) / 2}});
}

// Reads records at random from 64 blocks. `room` of the blocks fit into memory.
ps::Report decode_blocks(std::size_t room) {
  const ps::Pipeline p = ps::from(Blocks{.count = 512, .each = 8, .cost_us = 2'000}) | ps::shuffle({.seed = 1}) |
                         ps::repeat(8) | computing(100) | ps::batch(8);
  return run(p, {.options = {.threads = 1, .max_block_bytes = room << 20}, .seconds = 6});
}

// Reads records from a store whose pages are not in memory, with hardly any work per record.
ps::Report cold_disk() {
  const ColdStore store(150'000, 4 << 10);
  return run(ps::from(ps::Lmdb{.path = store.path()}) | ps::shuffle({.seed = 1}) | ps::batch(8),
             {.options = {.threads = 1, .epochs = 1}, .seconds = 10});
}

// Copies batches of 1 MiB over a link of 50 MB/s.
ps::Report slow_copies() {
  ps::EmulatedGpu gpu({.max_copy_bytes_per_s = 50'000'000});
  return run_on(gpu, 0, ps::from(Source{many}) | enlarged(200) | ps::batch(8));
}

// A stage after `batch` takes 20 ms.
ps::Report slow_device_stage() {
  ps::EmulatedGpu gpu;
  return run_on(gpu, 0, ps::from(Source{many}) | computing(200) | ps::batch(8) | ps::device_stage(Sleeps{20'000}));
}

// The caller puts 20 ms of work per batch on its stream, and does not wait for the work.
ps::Report slow_device_work() {
  ps::EmulatedGpu gpu;
  return run_on(gpu, 20'000, ps::from(Source{many}) | computing(200) | ps::batch(8));
}

// Each value has 8 MiB. Two batches and the values that a runner and the caller use take 48 MiB. Another runner needs
// 16 MiB more.
ps::Report memory() {
  const auto enlarge = [](ps::View<const std::int64_t, 0> in, ps::View<std::int64_t, 1> out) {
    spin_us(20'000);
    out(0) = in();
  };
  const ps::Pipeline p = ps::from(Source{many}) |
                         ps::map("x", enlarge, {.name = "planted_stage", .shape = ps::Shape{1 << 20}}) | ps::batch(1);
  return run(p, {.options = {.threads = 2, .max_memory_bytes = 56u << 20, .depth = 2}});
}

ps::Report slow_network(unsigned connections) {
  const SlowServer server;
  return run(server.records(connections) | ps::batch(16), {});
}

std::vector<Case> cases() {
  std::vector<Case> all = {
      {"healthy", Bound::cpu, "planted_stage",
       [] { return run(ps::from(Source{many}) | computing(500) | ps::batch(16), {}); }},
      {"slow source", Bound::cpu, "read",
       [] {
         return run(ps::from(Source{many, [](std::uint64_t) { spin_us(800); }}) | computing(200) | ps::batch(16), {});
       }},
      {"slow storage", Bound::storage, "storage",
       [] {
         return run(ps::from(Source{many, [](std::uint64_t) { sleep_us(2'000); }}) | computing(200) | ps::batch(8), {});
       }},
      {"a slow file of ten", Bound::storage, "file-3", slow_file},
      {"a slow file of ten, of blocks", Bound::storage, "file-3", slow_file_of_blocks,
       [](const ps::Report& r) { return r.bound == Bound::blocks && r.verdict.find("file-3") != std::string::npos; }},
      {"slow stage", Bound::cpu, "planted_stage",
       [] {
         return run(ps::from(Source{many, [](std::uint64_t) { spin_us(100); }}) | computing(900) | ps::batch(16), {});
       }},
      {"a stage that sleeps", Bound::waiting, "planted_stage",
       [] { return run(ps::from(Source{many}) | work([](std::int64_t) { sleep_us(2'000); }) | ps::batch(8), {}); }},
      {"a user's lock", Bound::lock, "planted_stage", lock},
      {"slow consumer", Bound::consumer, "caller",
       [] {
         return run(ps::from(Source{many}) | computing(200) | ps::batch(8),
                    {.options = {.threads = 1}, .caller_us = 8'000});
       }},
      {"too few buffers", Bound::buffers, "depth",
       [] {
         return run(ps::from(Source{many}) | computing(2'000) | ps::batch(1), {.options = {.threads = 2, .depth = 2}});
       }},
      {"a straggler in 100", Bound::stragglers, "depth", straggler},
      {"too few entries", Bound::entries, "max_reorder_bytes", entries},
      {"slow copies", Bound::copies, "Copies to", slow_copies},
      {"a slow stage on a device", Bound::device, "stages on", slow_device_stage},
      {"slow work on a device", Bound::consumer, "caller's work on", slow_device_work},
      {"a noisy neighbour", Bound::other_processes, "Other processes", neighbours},
      {"a busy stage and a neighbour", Bound::other_processes, "planted_stage(x) takes", neighbours},
      {"a kept dataset", Bound::cpu, "read takes", kept_dataset},
      {"a depth that is set", Bound::buffers, "depth", fixed_depth, depth_is_named, true,
       tuning_says("`depth` = 2, which is set")},
      {"nothing left to tune",
       Bound::buffers,
       "depth",
       nothing_to_tune,
       {},
       false,
       [](const ps::Report& r) { return !r.notes.empty() && r.notes[0].find("`tune` has nothing to change") == 0; }},
      {"a small executor",
       Bound::cpu,
       "Another thread",
       small_executor,
       {},
       true,
       tuning_says("`threads` = 1, all threads of the executor")},
      {"samples too large for the memory", Bound::memory, "max_memory_bytes", memory},
      {"too few threads", Bound::cpu, "Another thread",
       [] { return run(ps::from(Source{many}) | computing(1'000) | ps::batch(8), {.options = {.threads = 1}}); }},
      {"a slow order", Bound::order, "order",
       [] { return run(ps::from(Source{many}) | ps::order(SlowOrder{800}) | computing(300) | ps::batch(8), {}); }},
      {"a slow stream", Bound::stream, "stream",
       [] {
         return run(ps::from(Stream{many, 800}) | computing(300) | ps::batch(8), {});
       }},
      {"too little memory for blocks", Bound::blocks, "max_block_bytes", block_memory},
      {"blocks decoded anew", Bound::cpu, "max_block_bytes", [] { return decode_blocks(16); }},
      {"a cold disk", Bound::storage, "storage", cold_disk, reading_is_to_blame, true},
  };
  if (const std::string why = penstock::bench::why_no_web_server(); why.empty())
    all.push_back({"a slow network", Bound::network, "With 4, at most", [] { return slow_network(2); }});
  else
    std::printf("a slow network is not planted: %s\n", why.c_str());
  return all;
}

// Returns whether the speed with one more thread is within a fifth of what the report predicted.
bool thread_gain() {
  const ps::Pipeline p = ps::from(Source{many}) | computing(1'000) | ps::batch(8);
  const ps::Report one = run(p, {.options = {.threads = 1}}), two = run(p, {.options = {.threads = 2}});
  const double said = one.samples_per_s + one.limit_samples_per_s / one.threads;
  const bool right = std::abs(said / two.samples_per_s - 1) <= 0.2;
  std::printf("%-30s  %s  said %.0f samples/s, then %.0f\n", "gain of a thread", right ? "right" : "WRONG", said,
              two.samples_per_s);
  return right;
}

// Returns whether the speed with twice the memory for blocks is within a fifth of what the report predicted.
bool memory_gain() {
  const ps::Report once = decode_blocks(16), twice = decode_blocks(32);
  const double saved = static_cast<double>(once.block_decodes_saved) / static_cast<double>(once.block_decodes);
  const double said = once.samples_per_s / (1 - saved * once.stages.front().share);
  const bool right = std::abs(said / twice.samples_per_s - 1) <= 0.2 && twice.samples_per_s > 1.2 * once.samples_per_s;
  std::printf("%-30s  %s  %.0f samples/s; said %.0f, then %.0f\n", "gain of memory for blocks",
              right ? "right" : "WRONG", once.samples_per_s, said, twice.samples_per_s);
  return right;
}

// Returns whether what twice the connections bring is within a fifth of what the report predicted.
bool connections_gain() {
  if (!penstock::bench::why_no_web_server().empty()) return true;
  const ps::Report two = slow_network(2), four = slow_network(4);
  const double said = 2 * two.fetched->bytes_per_s;
  const bool right = std::abs(said / four.fetched->bytes_per_s - 1) <= 0.2;
  std::printf("%-30s  %s  said %.1f MB/s, then %.1f\n", "gain of connections", right ? "right" : "WRONG", said * 1e-6,
              four.fetched->bytes_per_s * 1e-6);
  return right;
}

constexpr int skipped = 77;

bool tell(const Case& it, const ps::Report& r) {
  const bool ok = it.right(r);
  std::printf("%-30s  %s  %s\n", it.name, ok ? "right" : "WRONG", ok ? r.verdict.c_str() : r.text().c_str());
  std::fflush(stdout);
  return ok;
}

// Plants each bottleneck once, for a short time. If the report is wrong, plants it up to twice more, for the whole
// time. A bottleneck is not judged if most of its wrong reports came while other processes had the cores.
int run_quick(const std::function<bool(const char*)>& wanted) {
  if (const ps::Report r = run(ps::from(Source{many}) | computing(500) | ps::batch(16), {.seconds = 0.5});
      r.cores < 2 || r.core_quota != 0 || !r.other_core_share) {
    std::printf("skipped: this needs two cores, no quota of their time, and a system that says who has them\n");
    return skipped;
  }
  const double busy = 0.1 * std::thread::hardware_concurrency();  // cores
  constexpr int most_disturbed = 3;
  int all = 0, right = 0, disturbed = 0;
  for (const Case& it : cases()) {
    if (!wanted(it.name) || it.only_whole) continue;
    bool ok = false;
    int wrong = 0;
    for (int i = 0; i < 3 && !ok; ++i) {
      const penstock::bench::ForeignLoad others;
      seconds_of_run = i == 0 ? 0.5 : 1.5;
      ok = tell(it, it.run());
      wrong += !ok && others.cores() < busy;
    }
    ok || wrong >= 2 ? ++all : ++disturbed;
    right += ok;
  }
  if (disturbed != 0) std::printf("%d not judged: others had the cores\n", disturbed);
  std::printf("%d of %d right\n", right, all);
  if (right != all || all + disturbed == 0) return 1;
  return all == 0 || disturbed > most_disturbed ? skipped : 0;
}

int main_of(int argc, char** argv) {
  int runs = 3;
  bool quick = false;
  std::vector<std::string> names;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--runs") == 0 && i + 1 < argc)
      runs = std::atoi(argv[++i]);
    else if (std::strcmp(argv[i], "--quick") == 0)
      quick = true;
    else
      names.emplace_back(argv[i]);
  }
  const auto wanted = [&](const char* name) { return names.empty() || std::ranges::find(names, name) != names.end(); };
  if (quick) return run_quick(wanted);
  int all = 0, right = 0;
  for (const Case& it : cases()) {
    if (!wanted(it.name)) continue;
    for (int i = 0; i < runs; ++i, ++all) right += tell(it, it.run());
  }
  if (wanted("gain of a thread"))
    for (int i = 0; i < runs; ++i, ++all) right += thread_gain();
  if (wanted("gain of memory for blocks"))
    for (int i = 0; i < runs; ++i, ++all) right += memory_gain();
  if (wanted("gain of connections"))
    for (int i = 0; i < runs; ++i, ++all) right += connections_gain();
  std::printf("%d of %d right\n", right, all);
  return right == all && all != 0 ? 0 : 1;
}

}  // namespace

}  // namespace bottlenecks

int main(int argc, char** argv) { return bottlenecks::main_of(argc, argv); }
