#pragma once

#include <cstdint>

#include "base/run_delay.hpp"
#include "base/trace.hpp"

namespace penstock::detail::runtime {

/// The runner that has a run of chains.
struct RunnerState {
  DelayMeter delay;            ///< how long it waited for a core
  int thread = 0;              ///< the thread that works, as the system numbers it; 0: none. Under the monitor's mutex
  std::uint64_t blocked = 0;   ///< what `times_blocked` last said of that thread
  TraceLine* trace = nullptr;  ///< its line of the timeline; null: none is kept
};

}  // namespace penstock::detail::runtime
