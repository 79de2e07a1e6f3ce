#pragma once

#include <string>

#include <penstock/report.hpp>

namespace penstock::detail::runtime {

/// What a verdict speaks of beside that which bounds the run.
struct SaidElsewhere {
  bool delay = false;  ///< runners' waiting for a core
  bool pause = false;  ///< pauses of the caller
};

/// What cost runners most of their time beside what the verdict speaks of, in a sentence; empty where that is little,
/// or where the verdict names no one thing. Shares are of the time of all runners that there may be.
std::string next_cause(const Report& report, const SaidElsewhere& told);

}  // namespace penstock::detail::runtime
