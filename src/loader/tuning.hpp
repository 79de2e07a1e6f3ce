// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <mutex>

#include <penstock/report.hpp>

#include "engine/engine.hpp"
#include "engine/run_totals.hpp"
#include "loader/tuner.hpp"

namespace penstock::detail::runtime {

/// How long a window lasts.
struct TunePace {
  std::uint64_t ns = 250'000'000, batches = 8;
  bool skips = true;                  ///< batches that may have been made with the settings before belong to no window
  TuneWindow (*made_up)() = nullptr;  ///< makes up a window, instead of the measured one
};
/// The pace of all loaders. Tests make it as short as possible, while no loader runs.
inline TunePace tune_pace;

/// Measures a run's batches as they are delivered, and changes the run as a Tuner decides. The caller's thread, except
/// for `report`.
class Tuning {
 public:
  /// `engine` must outlive it, and its plan must allow raises. `device_depth`: batches on a device, in addition to the
  /// ring's.
  Tuning(Engine& engine, unsigned device_depth);

  /// What to do after a batch was delivered.
  enum class Next : std::uint8_t {
    go_on,
    changed,     ///< settings changed: counts of the run begin at this moment
    begin_anew,  ///< the same, and the run is begun again at the next batch, which puts the change into effect
    done,        ///< it was the last batch that tuning needed
  };
  /// Takes a batch of `samples` samples, delivered at `now` by a call that began at `begun`, in nanoseconds.
  Next delivered(std::uint64_t begun, std::uint64_t now, std::uint64_t samples);
  /// Begins a window, because the run was begun again.
  void begin_window() noexcept;

  /// Any thread.
  TuneReport report() const;

 private:
  TuneWindow window_of(const RunTotals& totals);
  Next go_on_waiting();
  Next change();
  void apply();
  void note(bool changed) noexcept;

  Engine& engine_;
  const unsigned device_depth_;
  const std::size_t entry_bytes_;  // as `max_reorder_bytes` counts them
  Tuner tuner_;
  RunTotals before_;            // at the window's beginning
  std::uint64_t first_ns_ = 0;  // when the first batch was delivered
  std::uint64_t last_ns_ = 0;   // when the last one was delivered; 0: none was
  std::uint64_t to_skip_ = 0;   // batches that may have been made with other settings
  std::uint64_t batches_ = 0, samples_ = 0, took_ns_ = 0, waited_ns_ = 0;  // the window's
  std::uint64_t seen_batches_ = 0, seen_samples_ = 0;                      // all windows'
  bool waits_for_memory_ = false;                                          // memory that was given up is still in use
  std::uint64_t waited_batches_ = 0;                                       // batches during that time
  std::size_t block_limit_ = 0;
  std::uint64_t filled_bytes_ = 0;  // bytes of blocks that were loaded with the present limit

  mutable std::mutex mutex_;
  TuneReport report_;
};

}  // namespace penstock::detail::runtime
