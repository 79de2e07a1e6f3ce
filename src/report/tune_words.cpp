// SPDX-License-Identifier: Apache-2.0
#include "report/tune_words.hpp"

#include <cstdio>

namespace penstock::detail::runtime {

namespace {

std::string rate_of(double samples_per_s) {
  char text[32];
  std::snprintf(text, sizeof text, samples_per_s < 100 ? "%.1f" : "%.0f", samples_per_s);
  return text;
}

std::string trial_text(const TuneTrial& step) {
  std::string out = "  tuned: " + step.setting + " " + std::to_string(step.from) + " -> " + std::to_string(step.to);
  if (step.after_samples_per_s != 0)
    out += ": " + rate_of(step.before_samples_per_s) + " -> " + rate_of(step.after_samples_per_s) + " samples/s";
  return out + (step.kept ? ", kept (" : ", not kept (") + step.why + ")\n";
}

}  // namespace

std::string tune_text(const TuneReport& tuning) {
  char text[160];
  std::snprintf(text, sizeof text, "  %s %llu batches, %.1f s: threads = %u, depth = %u",
                tuning.done ? "tuned in" : "being tuned, for", static_cast<unsigned long long>(tuning.batches),
                tuning.seconds, tuning.threads, tuning.depth);
  std::string out = text;
  if (tuning.max_reorder_bytes != 0) out += ", max_reorder_bytes = " + std::to_string(tuning.max_reorder_bytes);
  if (tuning.max_block_bytes != 0) out += ", max_block_bytes = " + std::to_string(tuning.max_block_bytes);
  if (!tuning.end.empty()) out += "; " + tuning.end;
  out += "\n";
  for (const TuneTrial& step : tuning.trials) out += trial_text(step);
  return out;
}

}  // namespace penstock::detail::runtime
