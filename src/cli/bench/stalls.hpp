// How long a consumer waits for what: a run with the records kept, one without that, and one with a device besides.
#pragma once

#include <optional>
#include <string>

#include "bench/run.hpp"
#include "console/output.hpp"

namespace penstock::cli {

/// Seconds of all epochs together.
struct Stalls {
  double consumer_s = 0;                  ///< what the consumer takes for its batches
  double preparation_s = 0;               ///< waiting that stays where records are in memory, and no source is asked
  double fetch_s = 0;                     ///< waiting that reading adds
  std::optional<double> transfer_s = {};  ///< waiting that the way to a device adds; none on the host
  double epochs_s() const noexcept { return consumer_s + preparation_s + fetch_s + transfer_s.value_or(0); }
};

/// `stubbed`: with the source's records kept in memory; `whole`: the same pipeline without that, both on the host;
/// `on_device`: as `whole`, on a device. All with the same consumer.
Stalls split_stalls(const Run& stubbed, const Run& whole, const std::optional<Run>& on_device, double consumer_s);
std::string stalls_text(const Stalls& stalls);
Json stalls_json(const Stalls& stalls);

/// How busy a consumer should be.
constexpr double wanted_busy = 0.9;

/// The largest rate of a consumer that is so busy: tried out, from the rate of `free`, a run without a consumer; where
/// ten tries find none, the last one. `options`: of that run.
struct BusyRate {
  double samples_per_s = 0;  ///< what the consumer would take if it never waited
  double busy = 0;           ///< the share of the time in which it then is
};
BusyRate largest_busy_rate(const Pipeline& pipeline, RunOptions options, const Run& free);

}  // namespace penstock::cli
