// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <penstock/extend/fetch_counts.hpp>
#include <penstock/report.hpp>

namespace penstock::detail::runtime {

/// What a pipeline's source fetched over networks up to a moment, or between two moments.
struct FetchedSoFar {
  std::vector<FetchCounts> counts = {};
  std::uint64_t at_ns = 0;  ///< the moment, or the time between the two
};

/// Returns what was fetched after `before`. Of a source that was not counted there, returns nothing.
FetchedSoFar since(const FetchedSoFar& now, const FetchedSoFar& before);

/// Makes the part of a report. `fetched`: what was fetched between two moments. None if no source fetches.
std::optional<FetchReport> fetch_report(const FetchedSoFar& fetched);

}  // namespace penstock::detail::runtime
