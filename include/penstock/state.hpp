#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <penstock/detail/export.hpp>

namespace penstock {

/// Where in the run a sample stands. Together with the pipeline's seed and the stage's key it is the key of every
/// random draw, so a draw depends on nothing else: no thread, no timing, no earlier sample.
struct Place {
  std::uint64_t epoch = 0;     ///< which pass over the data it is, in the order's count; with
                               ///< `Rank::steps_per_epoch` that is not the epoch of batches
  std::uint64_t position = 0;  ///< position in the epoch's order; for a stream, the record's number
  std::uint32_t child = 0;     ///< which of the samples that one position became; 0 where there is one
  std::uint32_t attempt = 0;   ///< 0, or which replacement of a bad sample this is
  friend bool operator==(const Place&, const Place&) = default;
};

/// Everything a resume needs: 64 bytes. It names the next batch to deliver. A plain value; compare, copy and store it
/// freely, in the byte order of the machine.
struct State {
  /// Version of the format that is written now.
  static constexpr std::uint16_t current_version = 4;

  /// Which format the state is written in.
  std::uint16_t version = current_version;
  std::uint16_t window_batches = 0;  ///< batches already delivered of the bucket window that begins there
  std::uint32_t child = 0;           ///< which of the samples of `position` is the first not yet delivered
  /// Which pipeline made it: 32 bits of `Pipeline::fingerprint`, and a byte each of its source, its orders, its stages
  /// and the rest, to say which of them differ.
  std::uint64_t fingerprint = 0;
  /// The pipeline's seed.
  std::uint64_t seed = 0;
  /// Number of the epoch, from 0.
  std::uint32_t epoch = 0;
  std::uint32_t number = 0;    ///< number of the batch in its epoch
  std::uint64_t position = 0;  ///< the first position not yet delivered; with `Rank::steps_per_epoch` counted on over
                               ///< all passes
  std::uint64_t step = 0;      ///< batches delivered since the first epoch
  std::uint64_t samples = 0;   ///< samples in them, bad ones as well, for the quota of an error policy; on one of
                               ///< several ranks, those of that rank
  std::uint32_t replaced = 0;  ///< samples an error policy acted on so far, for its quota; of that rank
  std::uint32_t check = 0;     ///< checksum of the fields above
  friend bool operator==(const State&, const State&) = default;
};
static_assert(sizeof(State) == 64);

/// Writes `state`, 64 bytes and nothing else (`Loader::save` adds the pipeline in words), so that a crash leaves the
/// old file or the new one, never a torn one: temporary file, fsync, rename, fsync of the folder (`unsynced_folders`
/// has those that can't be synced). A crash may also leave the temporary file, `file.tmp.PID`, which nothing reads and
/// anybody may delete. @throws Error(io), or Error(not_found) where there is no such folder, with the name of that
/// temporary file.
PENSTOCK_API void save_state(const State& state, const std::string& file);
/// Reads what `save_state` or `Loader::save` wrote.
/// @throws Error(not_found), Error(io), Error(state_mismatch) for a damaged file or an unknown version,
/// Error(limit_exceeded) for one above 16 MiB, or Error(invalid_argument) for what is no file.
PENSTOCK_API State load_state(const std::string& file);

}  // namespace penstock
