// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/core_time.hpp"

namespace penstock::detail::runtime {

/// Counts of delivered batches, and times of their delivery.
struct DeliveryCounts {
  std::uint64_t batches = 0, samples = 0, bytes = 0;
  std::uint64_t next_ns = 0, elapsed_ns = 0;
};

/// Everything that is counted where the caller receives batches.
struct DeliveryCounters : DeliveryCounts {
  std::uint64_t first_batch_ns = 0, acted = 0;
  std::uint64_t acted_before =
      0;  ///< how many of the bad samples in `acted` came before the time that the other counts cover
  std::uint64_t empty_epochs = 0;  ///< epochs that ended without a batch
  /// The planned number of epochs, if the caller asked for an epoch beyond them; 0: the caller did not ask.
  std::uint64_t beyond_epochs = 0;
  double p50_s = 0, p99_s = 0;
  std::optional<double> caller_delay_share;
  std::optional<CoreShares> cores;
  std::vector<std::string> messages;
};

}  // namespace penstock::detail::runtime
