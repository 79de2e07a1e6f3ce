// SPDX-License-Identifier: Apache-2.0
#include "report/last_seconds.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>

namespace penstock::detail::runtime {

namespace {

// Returns whether the bound is one of the three that only the times of a device's streams distinguish.
bool of_device(Bound bound) { return bound == Bound::consumer || bound == Bound::copies || bound == Bound::device; }

bool too_few_were_timed(const Report& r) {
  constexpr std::uint64_t enough = 4;
  return std::ranges::any_of(r.devices, [](const DeviceReport& d) {
    return d.copies.timed != 0 && (d.copies.timed < enough || (d.starved.timed != 0 && d.starved.timed < enough));
  });
}

}  // namespace

std::string note_on_last_seconds(const Report& whole, const Report& lately) {
  constexpr double changed = 0.2;
  // In a short run the last seconds are nearly the whole run.
  if (lately.bound == Bound::unknown || lately.seconds <= 0 || whole.seconds < 2 * lately.seconds) return "";
  const double ratio = whole.samples_per_s > 0 ? lately.samples_per_s / whole.samples_per_s : 1;
  const bool same =
      lately.bound == whole.bound || (too_few_were_timed(lately) && of_device(lately.bound) && of_device(whole.bound));
  if (same && ratio > 1 - changed && ratio < 1 + changed) return "";
  char rate[96];
  std::snprintf(rate, sizeof rate, "In the last %.0f s it was %.0f samples/s, against %.0f in all", lately.seconds,
                lately.samples_per_s, whole.samples_per_s);
  return same ? rate + std::string(".") : rate + std::string(": ") + lately.verdict;
}

}  // namespace penstock::detail::runtime
