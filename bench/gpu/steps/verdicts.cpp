// SPDX-License-Identifier: Apache-2.0
// 11. Compares a loader's report with events around each step. The report says how long the consumer's stream starved,
// how long copies take, and whether copies or steps bound the run.
#include <cmath>
#include <string>

#include <fmt/format.h>

#include <penstock/report.hpp>

#include "../overlapping.hpp"

namespace penstock::gpu_bench {

namespace {

constexpr double max_share_off = 0.05, max_copies_off = 0.1;

struct VerdictCase {
  double copy_to_compute;
  Bound expected;
};

// Events around each step see every wait of the stream. A report times only a part of the waits.
void measure_verdict(Results& results, const Settings& settings, const VerdictCase& c) {
  const BatchSize size = overlap_batch(settings);
  const CudaStream stream;
  const Memory wrong(Kind::device, 8);
  Load load(Load::Sort::gemm);
  load.take(static_cast<double>(size.bytes()) / results.peak_pinned / c.copy_to_compute, stream);
  Loader loader(stamped_batches(size, 4 * overlap_steps(settings)), {.device = gpu(0), .epochs = 1});
  const LoaderTime time = time_loader(loader, stream, size, &load, wrong.as<unsigned long long>());
  const Report report = loader.report();
  const DeviceReport& device = report.devices.at(0);
  const std::string name = fmt::format(", copy/step {:g}", c.copy_to_compute);
  fmt::print("    {}\n", report.verdict);
  results.raw()["verdicts"][fmt::format("{:g}", c.copy_to_compute)] = nlohmann::ordered_json::parse(report.json());

  const double starved = device.starved.us * 1e-6 / time.step_s;
  results.add({.name = "the stream starved, by the report" + name,
               .ours = 100 * starved,
               .against = 100 * time.starved,
               .ratio = std::abs(starved - time.starved),
               .unit = "%",
               .gate = Gate::at_most,
               .bound = max_share_off});
  if (c.expected == Bound::copies)
    results.add({.name = "a copy, by the report, / a batch" + name,
                 .ours = device.copies.us * 1e-3,
                 .against = 1e3 * time.step_s,
                 .ratio = std::abs(device.copies.us * 1e-6 / time.step_s - 1),
                 .unit = "ms",
                 .gate = Gate::at_most,
                 .bound = max_copies_off});
  results.add({.name = "verdicts that are wrong" + name,
               .ours = report.bound == c.expected ? 0.0 : 1.0,
               .ratio = report.bound == c.expected ? 0.0 : 1.0,
               .gate = Gate::at_most,
               .bound = 0});
  tell_wrong_rows(results, "verdicts" + name, wrong);
}

}  // namespace

void verdicts(Results& results, const Settings& settings) {
  results.begin(11, "what a report says of the device");
  measure_verdict(results, settings, {4, Bound::copies});
  measure_verdict(results, settings, {0.25, Bound::consumer});
}

}  // namespace penstock::gpu_bench
