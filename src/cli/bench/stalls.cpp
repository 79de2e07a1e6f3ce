// SPDX-License-Identifier: Apache-2.0
#include "bench/stalls.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace penstock::cli {

Stalls split_stalls(const Run& stubbed, const Run& whole, const std::optional<Run>& on_device, double consumer_s) {
  Stalls out;
  out.consumer_s = consumer_s * static_cast<double>(whole.batches);
  out.preparation_s = std::max(0.0, stubbed.seconds - out.consumer_s);
  out.fetch_s = std::max(0.0, whole.seconds - (out.consumer_s + out.preparation_s));
  if (on_device) out.transfer_s = std::max(0.0, on_device->seconds - out.epochs_s());
  return out;
}

std::string stalls_text(const Stalls& stalls) {
  const auto line = [&](const char* what, double seconds) {
    return fmt::format("  {:<44} {:>8.3f} s  {:>5.1f} %\n", what, seconds, 100 * seconds / stalls.epochs_s());
  };
  return "where the time goes:\n" + line("the consumer's own work", stalls.consumer_s) +
         line("it waits for preparation (records in memory)", stalls.preparation_s) +
         line("it waits for reading besides", stalls.fetch_s) +
         (stalls.transfer_s ? line("it waits for the way to the device besides", *stalls.transfer_s) : "");
}

Json stalls_json(const Stalls& stalls) {
  Json json{{"consumer_s", stalls.consumer_s},
            {"preparation_stall_s", stalls.preparation_s},
            {"fetch_stall_s", stalls.fetch_s}};
  if (stalls.transfer_s) json["transfer_stall_s"] = *stalls.transfer_s;
  return json;
}

BusyRate largest_busy_rate(const Pipeline& pipeline, RunOptions options, const Run& free) {
  if (free.batches == 0 || free.samples_per_s <= 0) return {};
  const auto attempt = [&](double consumer_s) {
    options.consumer_s = consumer_s;
    const Run run = run_once(pipeline, options);
    return BusyRate{static_cast<double>(run.samples) / (static_cast<double>(run.batches) * consumer_s),
                    run.consumer_busy};
  };
  // The first trial is a consumer that would be busy enough if its first batch came without delay. That batch comes
  // late, so the next trials are slower consumers.
  double slower_s = wanted_busy * free.seconds / static_cast<double>(free.batches), faster_s = 0;
  BusyRate best = attempt(slower_s);
  for (int tries = 0; tries < 10 && best.busy < wanted_busy; ++tries) {
    faster_s = std::exchange(slower_s, slower_s * std::max(1.05, wanted_busy / best.busy));
    best = attempt(slower_s);
  }
  // Tries consumers between the last one that waited too much and the first one that did not.
  for (int steps = 0; steps < 3 && faster_s != 0 && best.busy >= wanted_busy; ++steps) {
    const double between_s = (faster_s + slower_s) / 2;
    const BusyRate found = attempt(between_s);
    if (found.busy >= wanted_busy) best = found;
    (found.busy >= wanted_busy ? slower_s : faster_s) = between_s;
  }
  return best;
}

}  // namespace penstock::cli
