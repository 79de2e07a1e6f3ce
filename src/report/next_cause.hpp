#pragma once

#include <string>

#include <penstock/report.hpp>

namespace penstock::detail {

/// What cost runners most of their time beside what `report.bound` names, in a sentence; empty where that is little.
/// Shares are of the time of all runners that there may be.
std::string next_cause(const Report& report);

}  // namespace penstock::detail
