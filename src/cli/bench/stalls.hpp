// SPDX-License-Identifier: Apache-2.0
// Splits a consumer's waiting by cause. Compares a run with the records kept in memory and a run with reading. If there
// is a device, also compares a run with reading and the device.
#pragma once

#include <optional>
#include <string>

#include "bench/run.hpp"
#include "console/output.hpp"

namespace penstock::cli {

/// Seconds of all epochs together.
struct Stalls {
  double consumer_s = 0;     ///< time that the consumer takes for its batches
  double preparation_s = 0;  ///< waiting that remains if records are kept in memory, so that nothing is read
  double fetch_s = 0;        ///< waiting that reading adds
  std::optional<double> transfer_s = {};  ///< waiting that the copy to a device adds; empty without a device
  double epochs_s() const noexcept { return consumer_s + preparation_s + fetch_s + transfer_s.value_or(0); }
};

/// `stubbed`: a run with the source's records kept in memory. `whole`: a run of the same pipeline that reads records.
/// Both are on the host. `on_device`: like `whole`, on a device. All runs have the same consumer.
Stalls split_stalls(const Run& stubbed, const Run& whole, const std::optional<Run>& on_device, double consumer_s);
std::string stalls_text(const Stalls& stalls);
Json stalls_json(const Stalls& stalls);

/// The share of the time in which a consumer should be busy.
constexpr double wanted_busy = 0.9;

/// A consumer's rate, and how busy the consumer is.
struct BusyRate {
  double samples_per_s = 0;  ///< the rate that the consumer would have if it never waited
  double busy = 0;           ///< the share of the time in which the consumer is busy at that rate
};
/// Searches by trials for the highest rate at which a consumer is busy for `wanted_busy` of the time. Starts from the
/// rate of `free`, a run with `options` and without a consumer. If the consumer is less busy in all trials, returns the
/// last trial. Returns zeros if `free` has no batches.
BusyRate largest_busy_rate(const Pipeline& pipeline, RunOptions options, const Run& free);

}  // namespace penstock::cli
