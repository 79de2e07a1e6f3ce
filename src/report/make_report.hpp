// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <penstock/report.hpp>

#include "base/core_time.hpp"
#include "delivery/delivery.hpp"
#include "engine/engine.hpp"
#include "report/counts_so_far.hpp"
#include "report/fetched_so_far.hpp"

namespace penstock::detail::runtime {

/// Counts that only a run of `write` has.
struct WriteCounts {
  std::string sink;
  /// `samples`, `bytes`: what was stored; `dropped`: samples left out as bad.
  std::uint64_t samples = 0, bytes = 0, dropped = 0;
  std::uint64_t elapsed_ns = 0, waited_ns = 0;  ///< `waited_ns`: how long the storing thread waited for samples
  std::uint64_t commit_ns = 0;
  std::optional<CoreShares> cores = {};
  FetchedSoFar fetched = {};
};

/// Returns the report of a `write` that has made no sample yet.
Report make_write_report(const std::string& sink);
Report make_write_report(const Chain& chain, const RunTotals& totals, const WriteCounts& counts);

/// Makes a loader's report from the counters: numbers, and sentences about the numbers.
Report make_report(const Engine& engine, const Delivery& delivery, const CountsSoFar& run);

}  // namespace penstock::detail::runtime
