#include "report/lately.hpp"

#include <cstdio>

namespace penstock::detail {

std::string what_changed(const Report& whole, const Report& lately) {
  constexpr double changed = 0.2;
  // The last seconds of a run that has had few more are nearly the whole of it.
  if (lately.bound == Bound::unknown || lately.seconds <= 0 || whole.seconds < 2 * lately.seconds) return "";
  const double ratio = whole.samples_per_s > 0 ? lately.samples_per_s / whole.samples_per_s : 1;
  if (lately.bound == whole.bound && ratio > 1 - changed && ratio < 1 + changed) return "";
  char rate[96];
  std::snprintf(rate, sizeof rate, "In the last %.0f s it was %.0f samples/s, against %.0f in all", lately.seconds,
                lately.samples_per_s, whole.samples_per_s);
  return lately.bound == whole.bound ? rate + std::string(".") : rate + std::string(": ") + lately.verdict;
}

}  // namespace penstock::detail
