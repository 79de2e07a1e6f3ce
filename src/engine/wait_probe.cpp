// SPDX-License-Identifier: Apache-2.0
#include "engine/wait_probe.hpp"

#include <algorithm>

namespace penstock::detail::runtime {

// If the last call was long ago, several looks are due together.
std::size_t WaitProbe::due(std::uint64_t now) noexcept {
  constexpr std::uint64_t most = 8;
  const std::uint64_t passed = now - std::min(now, last_ns_);
  if (passed < every_ns) return 0;
  last_ns_ = now;
  return static_cast<std::size_t>(std::min(passed / every_ns, most));
}

std::chrono::nanoseconds WaitProbe::until_due(std::uint64_t now) const noexcept {
  return std::chrono::nanoseconds(every_ns - std::min(now - std::min(now, last_ns_), every_ns - 1));
}

void WaitProbe::look_at(std::span<const int> threads) noexcept {
  for (const int thread : threads) {
    looks_.add(1);
    if (const std::optional<Wait> wait = wait_of_thread(thread)) waits_[static_cast<std::size_t>(*wait)].add(1);
  }
}

WaitProbe::Counts WaitProbe::counts() const noexcept {
  Counts counts;
  for (std::size_t kind = 0; kind < wait_kinds; ++kind) counts.waits[kind] = waits_[kind].get();
  counts.looks = looks_.get();
  return counts;
}

}  // namespace penstock::detail::runtime
