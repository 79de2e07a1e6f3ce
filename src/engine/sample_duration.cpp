// SPDX-License-Identifier: Apache-2.0
#include "engine/sample_duration.hpp"

#include <algorithm>

namespace penstock::detail::runtime {

// Takes each average over only a few milliseconds, because one long sample can make even the average of thousands of
// samples long. If samples that counted as short turn out to be long, the result changes at once. If there are more
// runners than cores, their times include waiting for a core, so the sum is multiplied by cores / runners.
void SampleDuration::look(std::uint64_t now, std::uint64_t busy_ns, std::uint64_t samples,
                          std::uint64_t at_once) noexcept {
  constexpr std::uint64_t least = 64, after_a_wait_ns = 200'000'000;
  const std::uint64_t more = samples - looked_samples_;
  const std::uint64_t took = (busy_ns - looked_busy_ns_) * cores_ / std::max<std::uint64_t>(cores_, at_once);
  const std::uint64_t waited = waited_ns_.load(std::memory_order_relaxed);
  const bool waits = waited != 0 && now - std::min(now, waited) < after_a_wait_ns;
  const bool refuted = is_short() && (waits || took >= short_ns_ * std::max(more, least));
  if (!refuted && !(is_due(now) && more >= least)) return;
  short_.store(!refuted && !waits && took < short_ns_ * more, std::memory_order_relaxed);
  looked_ns_.store(now, std::memory_order_relaxed);
  looked_busy_ns_ = busy_ns;
  looked_samples_ = samples;
}

}  // namespace penstock::detail::runtime
