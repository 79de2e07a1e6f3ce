// SPDX-License-Identifier: Apache-2.0
// 5. Negative controls: loops that don't overlap must miss the gates of step 4. Otherwise these gates prove nothing.
#include <string>

#include <penstock/memory.hpp>

#include "../overlapping.hpp"

namespace penstock::gpu_bench {

namespace {

void by_hand(Results& results, const Settings& settings, const std::string& name, const PlainLoop& loop) {
  const BatchSize size = overlap_batch(settings);
  const CudaStream stream;
  Load load(Load::Sort::gemm);
  load.take(static_cast<double>(size.bytes()) / results.peak_pinned, stream);
  Overlap measured;
  for (int round = 0; round < (settings.quick ? 1 : 3); ++round)
    measure_round(measured, settings, size, load, stream,
                  [&] { return time_plain(loop, size, overlap_steps(settings), load); });
  results.raw()["negative_controls"][name] = measured.raw();
  results.add({.name = "eta, " + name,
               .ours = measured.median(&OverlapRound::eta),
               .against = 1,
               .gate = Gate::must_miss_at_least,
               .bound = min_eta});
}

// Batch buffers are in pageable memory, which the driver has to copy once more.
void pageable(Results& results, const Settings& settings) {
  const BatchSize size = overlap_batch(settings);
  const CudaStream stream;
  const Memory wrong(Kind::device, 8);
  Loader loader(stamped_batches(size, overlap_steps(settings)), {.device = gpu(0), .host_memory = &host_memory()});
  std::vector<double> seconds;
  for (int round = 0; round < (settings.quick ? 1 : 3); ++round) {
    settle();
    seconds.push_back(time_loader(loader, stream, size, nullptr, wrong.as<unsigned long long>()).step_s);
  }
  results.raw()["negative_controls"]["pageable_s"] = seconds;
  results.add({.name = "H2D, batch buffers in pageable memory",
               .ours = static_cast<double>(size.bytes()) / median_of(seconds) / 1e9,
               .against = results.peak_pinned / 1e9,
               .unit = "GB/s",
               .gate = Gate::must_miss_at_least,
               .bound = min_rate});
}

}  // namespace

void negative_controls(Results& results, const Settings& settings) {
  results.begin(5, "negative controls: each has to miss its gate");
  pageable(results, settings);
  by_hand(results, settings, "copies on the consumer's stream", {.on_consumers_stream = true});
  by_hand(results, settings, "one batch on the device", {.depth = 1});
  by_hand(results, settings, "copies on the legacy default stream", {.on_legacy_stream = true});
}

}  // namespace penstock::gpu_bench
