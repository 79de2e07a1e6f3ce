#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <penstock/report.hpp>

#include "ring/run_settings.hpp"

namespace penstock::detail {

/// Bytes for decoded blocks, where nothing is said.
inline constexpr std::size_t default_block_bytes = 512u << 20;

struct MemoryRequest {
  std::size_t max_memory_bytes = 0;  ///< bytes, 0 = no limit
  unsigned depth = 0;                ///< 0 = choose
  unsigned threads = 1;
  std::uint64_t rows = 1;
  std::size_t buffer_bytes = 0;
  std::size_t sample_bytes = 0;   ///< largest fixed field: the least a runner may need
  std::size_t row_bytes = 0;      ///< bytes of a reordered sample that waits for its row in a batch
  std::size_t held = 0;           ///< how many reordered samples wait beside the entries
  std::size_t append_buffer = 0;  ///< the least a buffer needs for fields of any size; 0 = there are none
  std::size_t append_row = 0;     ///< the least that a reordered sample needs for fields of any size
  std::function<std::size_t(unsigned threads)> entries = {},
                                               shared_records = {};  ///< how many a reordered pipeline has
  std::size_t shared_record_bytes = 0;                               ///< the least one may need
  bool blocks = false;                                               ///< records share blocks
  std::size_t max_block_bytes = 0;                                   ///< bytes for blocks; 0 = choose
  std::size_t max_pinned_bytes = 0;  ///< bytes for buffers where they are pinned, 0 = no limit
  std::size_t pinned_buffer_bytes = 0;
  unsigned devices = 1;         ///< devices that share each batch
  std::size_t device_rows = 0;  ///< the least a batch needs on a device for fields of any size; 0 = there are none
  unsigned device_images = 0;   ///< batches of decoded images there, which have as many bytes each as those
  std::size_t device_buffer_bytes = 0;  ///< bytes of a batch on a device
  std::size_t device_fixed_bytes = 0;   ///< bytes of what stages on a device need beside its batches
  bool device_is_host = false;          ///< the device's bytes are bytes of the host's
  std::size_t device_notes_bytes = 0;   ///< bytes of what the host knows of a batch on a device
  std::size_t max_device_bytes = 0;     ///< bytes for a device's batches, 0 = no limit
  unsigned device_depth = 0;            ///< 0 = choose
  bool stand_ins = false;               ///< a runner may make a child's parent once more, for that child alone
  unsigned most_threads = 0;            ///< runners that there may be later, or fewer; 0 = `threads`, always
  /// Which of the others may be raised while the run runs.
  bool raises_depth = false, raises_entries = false, raises_blocks = false;
  bool stream = false;  ///< entries are not raised for the source's sake
};

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
  std::optional<RunGrowth> growth;              ///< how far threads and the like may be raised; none: they stay
  std::vector<std::string> notes;               ///< what was lowered, and why

  /// With what it begins.
  RunSettings first() const noexcept { return {threads, depth, entries, block_limit}; }
  /// How far that may be raised.
  RunSettings most() const noexcept { return growth ? growth->most : first(); }
};

/// @throws Error(out_of_memory) with the table and what to lower.
MemoryPlan plan_memory(const MemoryRequest& request);

}  // namespace penstock::detail
