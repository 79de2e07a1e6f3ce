// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <barrier>
#include <cstddef>
#include <thread>
#include <vector>

namespace penstock::testing {

/// Calls `act(0)` to `act(threads - 1)`, each on a separate thread. All calls begin together. `act` must not throw.
template <class Act>
void at_once(unsigned threads, const Act& act) {
  std::barrier begin(static_cast<std::ptrdiff_t>(threads));
  std::vector<std::jthread> running;
  running.reserve(threads);
  for (unsigned thread = 0; thread < threads; ++thread)
    running.emplace_back([&begin, &act, thread] {
      begin.arrive_and_wait();
      act(thread);
    });
}

}  // namespace penstock::testing
