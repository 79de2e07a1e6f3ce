#include "bench/stalls.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace penstock::cli {

Stalls split_stalls(const Run& stubbed, const Run& whole, double consumer_s) {
  Stalls out;
  out.consumer_s = consumer_s * static_cast<double>(whole.batches);
  out.preparation_s = std::max(0.0, stubbed.seconds - out.consumer_s);
  out.fetch_s = std::max(0.0, whole.seconds - std::max(stubbed.seconds, out.consumer_s));
  return out;
}

std::string stalls_text(const Stalls& stalls) {
  const auto line = [&](const char* what, double seconds) {
    return fmt::format("  {:<44} {:>8.3f} s  {:>5.1f} %\n", what, seconds, 100 * seconds / stalls.epochs_s());
  };
  return "where the time goes:\n" + line("the consumer's own work", stalls.consumer_s) +
         line("it waits for preparation (records in memory)", stalls.preparation_s) +
         line("it waits for reading besides", stalls.fetch_s);
}

Json stalls_json(const Stalls& stalls) {
  return {{"consumer_s", stalls.consumer_s},
          {"preparation_stall_s", stalls.preparation_s},
          {"fetch_stall_s", stalls.fetch_s}};
}

BusyRate largest_busy_rate(const Pipeline& pipeline, RunOptions options, const Run& free) {
  if (free.batches == 0 || free.samples_per_s <= 0) return {};
  // The first batch comes late, whoever waits for it.
  double consumer_s = wanted_busy * free.seconds / static_cast<double>(free.batches);
  BusyRate out;
  for (int tries = 0; tries < 10; ++tries) {
    options.consumer_s = consumer_s;
    const Run run = run_once(pipeline, options);
    out = {static_cast<double>(run.samples) / (static_cast<double>(run.batches) * consumer_s), run.consumer_busy};
    if (out.busy >= wanted_busy) break;
    consumer_s *= std::max(1.05, wanted_busy / out.busy);
  }
  return out;
}

}  // namespace penstock::cli
