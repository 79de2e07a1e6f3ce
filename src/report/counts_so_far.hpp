// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "base/core_time.hpp"
#include "base/counts.hpp"
#include "delivery/device_counts.hpp"
#include "engine/run_totals.hpp"
#include "report/delivery_counters.hpp"
#include "report/fetched_so_far.hpp"

namespace penstock::detail::runtime {

/// Counts of a run up to a moment.
struct CountsSoFar {
  RunTotals totals;
  DeliveryCounters delivered;
  DeliveryTimes times;
  std::optional<CoreTime> cores;
  FetchedSoFar fetched;
};

/// Returns what was counted after `before`. Subtracts only the members of DeliveryCounts. Sets
/// `acted_before` to `before.acted`. All other members keep the values of the whole run.
inline DeliveryCounters since(DeliveryCounters now, const DeliveryCounters& before) {
  subtract_counts<DeliveryCounts>(now, before);
  now.acted_before = before.acted;
  return now;
}

inline CountsSoFar since(CountsSoFar now, const CountsSoFar& before) {
  now.totals = since(std::move(now.totals), before.totals);
  now.delivered = since(std::move(now.delivered), before.delivered);
  now.times = since(std::move(now.times), before.times);
  now.fetched = since(std::move(now.fetched), before.fetched);
  if (now.cores && before.cores && before.cores->at < now.cores->at)
    now.delivered.cores = core_shares(*before.cores, *now.cores);
  return now;
}

}  // namespace penstock::detail::runtime
