// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/run_delay.hpp"
#include "base/trace.hpp"

namespace penstock::detail::runtime {

/// State of the runner that uses a ChainRun.
struct RunnerState {
  DelayMeter delay;  ///< how long the runner waited for a core
  int thread = 0;  ///< the system's number of the thread that works for the runner; 0: no thread works for it. Guarded
                   ///< by the monitor's mutex
  std::uint64_t blocked = 0;   ///< the last result of `times_blocked` for that thread
  TraceLine* trace = nullptr;  ///< the runner's line of the timeline; null: no timeline is kept
};

}  // namespace penstock::detail::runtime
