// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <penstock/detail/export.hpp>

namespace penstock {

/// Identifies a sample of a run. A place, the pipeline's seed and the stage's key are together the key of every random
/// draw. So a draw does not depend on anything else, like threads, timing or earlier samples.
struct Place {
  std::uint64_t epoch = 0;     ///< number of the pass over the data; with `Rank::steps_per_epoch`
                               ///< this is not the epoch of the batches
  std::uint64_t position = 0;  ///< position in the epoch's order; for a stream, the record's number
  std::uint32_t child = 0;     ///< which of the samples of one position (see `flat_map`); 0 if there is only one
  std::uint32_t attempt = 0;   ///< 0, or the number of the replacement for a bad sample
  friend bool operator==(const Place&, const Place&) = default;
};

/// Everything that a resume needs, in 64 bytes. A state names the next batch to deliver. A plain value; callers may
/// compare, copy and store it. Its bytes are in the machine's byte order.
struct State {
  /// Version of the format that this library writes.
  static constexpr std::uint16_t current_version = 4;

  /// Version of the state's format.
  std::uint16_t version = current_version;
  std::uint16_t window_batches = 0;  ///< number of batches that were delivered from the bucket window that begins at
                                     ///< `position`
  std::uint32_t child = 0;           ///< which of the samples of `position` is the first one not delivered yet
  /// Identifies the pipeline: 32 bits of `Pipeline::fingerprint`, and one byte each for its source, its orders, its
  /// stages and the rest. If two pipelines differ, the bytes show in which of these.
  std::uint64_t fingerprint = 0;
  /// The pipeline's seed.
  std::uint64_t seed = 0;
  /// Number of the epoch, from 0.
  std::uint32_t epoch = 0;
  std::uint32_t number = 0;    ///< number of the batch in its epoch
  std::uint64_t position = 0;  ///< first position that is not delivered yet; with `Rank::steps_per_epoch` it is counted
                               ///< over all passes
  std::uint64_t step = 0;      ///< batches delivered since the beginning of epoch 0
  std::uint64_t samples = 0;   ///< samples so far, for the quota of an error policy. Samples that filters left out do
                               ///< not count. With several ranks: the samples of the rank that saved the state
  std::uint32_t replaced = 0;  ///< samples that an error policy acted on so far, for its quota; with several ranks only
                               ///< those of the rank that saved the state
  std::uint32_t check = 0;     ///< checksum of the fields above
  friend bool operator==(const State&, const State&) = default;
};
static_assert(sizeof(State) == 64);

/// Writes the 64 bytes of `state` to `file`. (`Loader::save` also writes the pipeline in words.) A crash leaves the old
/// file or the whole new one: the state is written to a temporary file, which is synced and renamed. Then the folder is
/// synced. `unsynced_folders` lists folders that can't be synced. A crash may also leave the temporary file,
/// `file.tmp.PID`; nothing reads it, and it may be deleted.
/// @throws Error(not_found) if the folder does not exist; Error(io). Both errors name the temporary file.
PENSTOCK_API void save_state(const State& state, const std::string& file);
/// Reads a file that `save_state` or `Loader::save` wrote.
/// @throws Error(not_found); Error(io); Error(state_mismatch) if the file is damaged or has an unknown version.
/// @throws Error(limit_exceeded) if the file is larger than 16 MiB.
/// @throws Error(invalid_argument) if `file` is a device, or a pipe that no process has open for writing.
PENSTOCK_API State load_state(const std::string& file);

}  // namespace penstock
