// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <mutex>

#include <penstock/report.hpp>

#include "engine/engine.hpp"
#include "engine/run_totals.hpp"
#include "loader/tuner.hpp"

namespace penstock::detail::runtime {

/// How long a window lasts: at least `ns` nanoseconds and `batches` batches.
struct TunePace {
  std::uint64_t ns = 250'000'000, batches = 8;
  bool skips = true;                  ///< whether to leave out batches that may have been made with earlier settings
  TuneWindow (*made_up)() = nullptr;  ///< for tests: returns a window that replaces the measured window
};
/// The pace of all loaders. Tests shorten it while no loader runs.
inline TunePace tune_pace;

/// Measures a run's batches as they are delivered, and changes the run's settings as a Tuner decides. Only the
/// caller's thread may call its functions, except `report`.
class Tuning {
 public:
  /// `engine` must outlive this object, and its plan must allow raises. `device_depth`: number of batches on a device,
  /// in addition to the batches in the ring.
  Tuning(Engine& engine, unsigned device_depth);

  /// What to do after a batch was delivered.
  enum class Next : std::uint8_t {
    go_on,
    changed,     ///< settings changed, so the counts of reports should begin at this moment
    begin_anew,  ///< like `changed`, but the caller should also begin the run again at the next batch; the change
                 ///< takes effect then
    done,        ///< tuning has ended and needs no further batches
  };
  /// Counts a batch of `samples` samples that was delivered at `now` by a call that began at `begun`, both in
  /// nanoseconds.
  Next delivered(std::uint64_t begun, std::uint64_t now, std::uint64_t samples);
  /// Begins a new window. Call this after the run was begun again.
  void begin_window() noexcept;

  /// Any thread may call this.
  TuneReport report() const;

 private:
  TuneWindow window_of(const RunTotals& totals);
  Next go_on_waiting();
  Next change();
  void apply();
  void note(bool changed) noexcept;

  Engine& engine_;
  const unsigned device_depth_;
  const std::size_t entry_bytes_;  // bytes per entry, as `max_reorder_bytes` counts them
  Tuner tuner_;
  RunTotals before_;            // the counts at the window's beginning
  std::uint64_t first_ns_ = 0;  // when the first batch was delivered
  std::uint64_t last_ns_ = 0;   // when the last batch was delivered; 0: no batch was delivered
  std::uint64_t to_skip_ = 0;   // how many of the next batches may have been made with earlier settings
  std::uint64_t batches_ = 0, samples_ = 0, took_ns_ = 0, waited_ns_ = 0;  // counts of the window
  std::uint64_t seen_batches_ = 0, seen_samples_ = 0;                      // counts of all batches so far
  bool waits_for_memory_ = false;     // a change waits, because memory that the last change gave up is still in use
  std::uint64_t waited_batches_ = 0;  // batches that were delivered during this wait
  std::size_t block_limit_ = 0;
  std::uint64_t filled_bytes_ = 0;  // bytes of blocks that were loaded with the present limit

  mutable std::mutex mutex_;
  TuneReport report_;
};

}  // namespace penstock::detail::runtime
