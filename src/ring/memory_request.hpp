// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

namespace penstock::detail::runtime {

/// What batches on devices need. Bytes are per device.
struct DeviceRequest {
  unsigned count = 1;          ///< devices that share each batch
  std::size_t max_bytes = 0;   ///< limit for a device's batches; 0 = no limit
  unsigned depth = 0;          ///< batches on a device; 0 = the plan chooses
  std::size_t rows_bytes = 0;  ///< the least bytes that a batch on a device needs for fields whose rows differ in size;
                               ///< 0 = there are no such fields
  unsigned images = 0;  ///< number of batches of decoded images on a device; each gets the same limit as a batch's
                        ///< fields whose rows differ in size
  std::size_t buffer_bytes = 0;  ///< bytes of a batch in fields of fixed size
  std::size_t fixed_bytes = 0;   ///< bytes that stages need on a device, apart from batches
  bool is_host = false;          ///< the device's memory is the host's memory
  std::size_t notes_bytes = 0;   ///< bytes on the host for the BatchInfo of a batch on a device
};

/// What a reordered pipeline needs for samples on their way to a batch.
struct ReorderRequest {
  std::size_t row_bytes = 0;   ///< bytes that a waiting sample needs for fields with fixed addresses, and for notes
  std::size_t append_row = 0;  ///< the least bytes that a sample needs for fields whose rows differ in size
  std::size_t held = 0;        ///< number of samples that wait outside the entries
  /// Return, for a number of runners, the number of entries and the number of shared records.
  std::function<std::size_t(unsigned threads)> entries = {}, shared_records = {};
  std::size_t shared_record_bytes = 0;  ///< the least bytes that one shared record needs
  /// A runner may make another shared record for one stand-in, so each runner needs scratch twice.
  bool stand_ins = false;
};

/// Which settings may be raised during the run.
struct GrowthRequest {
  unsigned most_threads = 0;  ///< the most runners that the run may ever use; 0 = the number of runners never changes
  bool depth = false, entries = false, blocks = false;
  bool stream = false;  ///< entries are not raised, because the source is a stream, which can't be read again
};

/// What a run needs memory for, and the limits that the user set.
struct MemoryRequest {
  std::size_t max_memory_bytes = 0;  ///< limit in bytes; 0 = no limit
  unsigned depth = 0;                ///< batches in the ring; 0 = the plan chooses
  unsigned threads = 1;
  std::uint64_t rows = 1;
  std::size_t buffer_bytes = 0;
  /// Bytes of the largest field of fixed size. A runner's scratch must have room for two such fields.
  std::size_t sample_bytes = 0;
  /// The least bytes that a batch buffer needs for fields whose rows differ in size; 0 = there are no such fields.
  std::size_t append_buffer = 0;
  bool blocks = false;               ///< records share blocks
  std::size_t max_block_bytes = 0;   ///< limit in bytes for blocks; 0 = the plan chooses
  std::size_t max_pinned_bytes = 0;  ///< limit in bytes for pinned buffers; 0 = no limit
  std::size_t pinned_buffer_bytes = 0;
  DeviceRequest device = {};
  ReorderRequest reorder = {};
  GrowthRequest raises = {};
};

}  // namespace penstock::detail::runtime
