// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <penstock/report.hpp>

#include "ring/memory_request.hpp"
#include "ring/tuned_settings.hpp"

namespace penstock::detail::runtime {

/// Default limit in bytes for decoded blocks.
inline constexpr std::size_t default_block_bytes = 512u << 20;

/// How a run divides its memory. The plan is made before the first batch. By default there are no limits.
struct MemoryPlan {
  static constexpr std::size_t unlimited = ~std::size_t{0};

  unsigned threads = 1;         ///< runners
  unsigned wanted_threads = 1;  ///< how many runners there would be without a memory limit
  unsigned depth = 4;           ///< batches in the ring
  unsigned device_depth = 3;    ///< batches on a device
  // For a reordered pipeline: the number of entries, and the number of shared records that are kept.
  std::size_t entries = 0, shared_records = 0;
  std::size_t scratch_limit = unlimited;  ///< bytes per runner; a runner that makes stand-ins may use these bytes twice
  std::size_t shared_record_limit = unlimited;  ///< bytes per shared record
  std::size_t block_limit = 0;                  ///< bytes for blocks that records share
  // Limits for fields whose rows differ in size. `buffer_limit`: bytes per batch in the ring. `entry_limit`: bytes per
  // waiting sample. `device_rows_limit`: bytes per batch on a device or in staging.
  std::size_t buffer_limit = unlimited, entry_limit = unlimited, device_rows_limit = unlimited;
  /// The user's options that set `block_limit` and `device_rows_limit`. Errors ask to raise these options.
  const char *block_option = "max_block_bytes", *device_rows_option = "max_device_bytes";
  std::size_t device_images_limit = unlimited;  ///< bytes for the images that a device decodes for one batch
  std::optional<TuningBounds> growth;           ///< how far settings may be raised; none: settings are never changed
  std::vector<std::string> notes;               ///< the settings that were lowered, and why

  /// Returns the settings at the start of the run.
  TunedSettings first() const noexcept { return {threads, depth, entries, block_limit}; }
  /// Returns the highest value of each setting.
  TunedSettings most() const noexcept { return growth ? growth->most : first(); }
};

/// Divides a run's memory. @throws Error(out_of_memory) if a limit is below the least needs. The error lists these
/// needs and names the options to change.
MemoryPlan plan_memory(const MemoryRequest& request);

}  // namespace penstock::detail::runtime
