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

/// Bytes for decoded blocks, where nothing is said.
inline constexpr std::size_t default_block_bytes = 512u << 20;

/// What a run's bytes are for, settled before its first batch. The defaults know no limits.
struct MemoryPlan {
  static constexpr std::size_t unlimited = ~std::size_t{0};

  unsigned threads = 1;         ///< runners
  unsigned wanted_threads = 1;  ///< runners that there would be without a limit
  unsigned depth = 4;           ///< batches in the ring
  unsigned device_depth = 3;    ///< batches on a device
  // What a reordered pipeline has: samples in work, and the records that they share.
  std::size_t entries = 0, shared_records = 0;
  std::size_t scratch_limit = unlimited;        ///< bytes a runner, and as much for a stand-in
  std::size_t shared_record_limit = unlimited;  ///< bytes a record that samples share
  std::size_t block_limit = 0;                  ///< bytes for blocks that records share
  // For fields of any size: bytes of a batch, of a sample that waits, and of a batch on a device and in its staging.
  std::size_t buffer_limit = unlimited, entry_limit = unlimited, device_rows_limit = unlimited;
  /// Which of the user's options set them: what an error says to raise.
  const char *block_option = "max_block_bytes", *device_rows_option = "max_device_bytes";
  std::size_t device_images_limit = unlimited;  ///< bytes of a batch of images that a device decodes
  std::optional<TuningBounds> growth;           ///< how far threads and the like may be raised; none: they stay
  std::vector<std::string> notes;               ///< what was lowered, and why

  /// With what it begins.
  TunedSettings first() const noexcept { return {threads, depth, entries, block_limit}; }
  /// How far that may be raised.
  TunedSettings most() const noexcept { return growth ? growth->most : first(); }
};

/// @throws Error(out_of_memory) with the table and what to lower.
MemoryPlan plan_memory(const MemoryRequest& request);

}  // namespace penstock::detail::runtime
