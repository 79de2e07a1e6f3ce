// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/counters.hpp"

namespace penstock::detail::runtime {

class ChainRun;
struct StepCall;

/// What one ChainRun has to do with the branches of joins: with its own branches, and with the chain that it is a
/// branch of.
struct ChainRunBranches {
  std::vector<std::unique_ptr<ChainRun>> inner;  ///< one for each branch of the chain
  const StepCall* reading = nullptr;             ///< what the reading is called with, while it reads
  std::uint64_t measured_for = 0;                ///< number of samples that the current timing represents; 0: no timing
  Clocks time{};                                 ///< time of the branches during the step that is timed
  /// The ChainRun whose reading runs this branch; null: this is no branch.
  ChainRun* outer = nullptr;
  std::size_t first_slot = 0;  ///< slot of the outer ChainRun that has this branch's slot 0
};

}  // namespace penstock::detail::runtime
