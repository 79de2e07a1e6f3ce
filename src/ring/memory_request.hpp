// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

namespace penstock::detail::runtime {

/// Memory for a device's batches. Bytes are per device.
struct DeviceRequest {
  unsigned count = 1;            ///< devices that share each batch
  std::size_t max_bytes = 0;     ///< bytes for its batches; 0 = no limit
  unsigned depth = 0;            ///< 0 = choose
  std::size_t rows_bytes = 0;    ///< the least that a batch needs there for fields of any size; 0 = it has none
  unsigned images = 0;           ///< batches of decoded images there, each with as many bytes as these fields have
  std::size_t buffer_bytes = 0;  ///< bytes of a batch
  std::size_t fixed_bytes = 0;   ///< bytes that stages need there, apart from batches
  bool is_host = false;          ///< its memory is the host's memory
  std::size_t notes_bytes = 0;   ///< bytes on the host for the notes about a batch there
};

/// What a reordered pipeline needs while samples are processed.
struct ReorderRequest {
  std::size_t row_bytes = 0;   ///< bytes of a sample that waits for its row in a batch
  std::size_t append_row = 0;  ///< the least that a sample needs for fields of any size
  std::size_t held = 0;        ///< number of samples that wait outside the entries
  /// Their numbers for a given number of runners.
  std::function<std::size_t(unsigned threads)> entries = {}, shared_records = {};
  std::size_t shared_record_bytes = 0;  ///< the least that one of them may need
  bool stand_ins = false;               ///< a runner may make a child's parent again, for that child only
};

/// What may be raised during the run.
struct GrowthRequest {
  unsigned most_threads = 0;  ///< most runners later; there may be fewer; 0 = the number never changes
  bool depth = false, entries = false, blocks = false;
  bool stream = false;  ///< entries are not raised to speed up the source
};

/// What a run needs memory for, and its limits.
struct MemoryRequest {
  std::size_t max_memory_bytes = 0;  ///< bytes; 0 = no limit
  unsigned depth = 0;                ///< 0 = choose
  unsigned threads = 1;
  std::uint64_t rows = 1;
  std::size_t buffer_bytes = 0;
  std::size_t sample_bytes = 0;      ///< largest fixed field: the least that a runner may need
  std::size_t append_buffer = 0;     ///< the least that a buffer needs for fields of any size; 0 = it has none
  bool blocks = false;               ///< records share blocks
  std::size_t max_block_bytes = 0;   ///< bytes for blocks; 0 = choose
  std::size_t max_pinned_bytes = 0;  ///< bytes for pinned buffers; 0 = no limit
  std::size_t pinned_buffer_bytes = 0;
  DeviceRequest device = {};
  ReorderRequest reorder = {};
  GrowthRequest raises = {};
};

}  // namespace penstock::detail::runtime
