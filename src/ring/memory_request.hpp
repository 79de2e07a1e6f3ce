#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

namespace penstock::detail::runtime {

/// A device's batches: bytes are of one device.
struct DeviceRequest {
  unsigned count = 1;            ///< devices that share each batch
  std::size_t max_bytes = 0;     ///< bytes for its batches, 0 = no limit
  unsigned depth = 0;            ///< 0 = choose
  std::size_t rows_bytes = 0;    ///< the least a batch needs there for fields of any size; 0 = there are none
  unsigned images = 0;           ///< batches of decoded images there, which have as many bytes each as those
  std::size_t buffer_bytes = 0;  ///< bytes of a batch
  std::size_t fixed_bytes = 0;   ///< bytes of what stages there need beside its batches
  bool is_host = false;          ///< its bytes are bytes of the host's
  std::size_t notes_bytes = 0;   ///< bytes of what the host knows of a batch there
};

/// What a reordered pipeline has in work.
struct ReorderRequest {
  std::size_t row_bytes = 0;   ///< bytes of a sample that waits for its row in a batch
  std::size_t append_row = 0;  ///< the least that a sample needs for fields of any size
  std::size_t held = 0;        ///< how many samples wait beside the entries
  /// How many there are, with so many runners.
  std::function<std::size_t(unsigned threads)> entries = {}, shared_records = {};
  std::size_t shared_record_bytes = 0;  ///< the least one may need
  bool stand_ins = false;               ///< a runner may make a child's parent once more, for that child alone
};

/// What may be raised while the run runs.
struct GrowthRequest {
  unsigned most_threads = 0;  ///< runners that there may be later, or fewer; 0 = as at first, always
  bool depth = false, entries = false, blocks = false;
  bool stream = false;  ///< entries are not raised for the source's sake
};

/// What a run wants memory for, and its limits.
struct MemoryRequest {
  std::size_t max_memory_bytes = 0;  ///< bytes, 0 = no limit
  unsigned depth = 0;                ///< 0 = choose
  unsigned threads = 1;
  std::uint64_t rows = 1;
  std::size_t buffer_bytes = 0;
  std::size_t sample_bytes = 0;      ///< largest fixed field: the least a runner may need
  std::size_t append_buffer = 0;     ///< the least a buffer needs for fields of any size; 0 = there are none
  bool blocks = false;               ///< records share blocks
  std::size_t max_block_bytes = 0;   ///< bytes for blocks; 0 = choose
  std::size_t max_pinned_bytes = 0;  ///< bytes for buffers where they are pinned, 0 = no limit
  std::size_t pinned_buffer_bytes = 0;
  DeviceRequest device = {};
  ReorderRequest reorder = {};
  GrowthRequest raises = {};
};

}  // namespace penstock::detail::runtime
