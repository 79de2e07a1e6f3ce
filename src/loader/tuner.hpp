// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <penstock/report.hpp>

#include "loader/tune_window.hpp"
#include "ring/tuned_settings.hpp"

namespace penstock::detail::runtime {

/// Decides the settings of a run from measurements. Raises the setting that the run lacks most. If no raise is
/// promising, tries fewer threads. Keeps a change if batches are delivered faster, and takes it back otherwise.
///
/// A promising trial is measured up to four times, in turns with the kept settings, because a machine's speed changes
/// with time. More memory for blocks is kept without a trial, because the number of decodes that it saves is known.
class Tuner {
 public:
  /// The run begins with `growth.first`. `cores`: number of cores that the process may use. No trial begins after
  /// `most_windows` windows. Windows in which tuning only waits for measurements of blocks are not counted.
  Tuner(const TuningBounds& growth, unsigned cores, unsigned most_windows = 64);

  /// Returns the settings for the next window or, after the end of tuning, for the rest of the run.
  const TunedSettings& settings() const noexcept { return settings_; }
  bool done() const noexcept { return done_; }
  /// Takes the measurements of a window that ran with `settings()`.
  void measured(const TuneWindow& window);
  /// Notes that there is no memory for `settings()`. The run then continues with the kept settings.
  void refused();
  /// Ends tuning. The run continues with `settings`. `why`: the reason.
  void stop(const TunedSettings& settings, std::string why);
  /// Returns the kept settings, without the change of the present trial.
  const TunedSettings& kept() const noexcept { return kept_; }

  /// Returns the trials, in order.
  const std::vector<TuneTrial>& trials() const noexcept { return trials_; }
  /// Returns why tuning ended; empty if it has not ended.
  const std::string& end() const noexcept { return end_; }

 private:
  enum class Phase : std::uint8_t {
    base,        // a window with the kept settings
    trial,       // a window with the tried settings
    base_again,  // a further window with the kept settings, before the tried settings are measured again
  };
  struct Proposal {
    TunedSettings settings;
    double share;  // share of the runners' time that the proposal may save
    std::string why;
  };

  std::optional<Proposal> propose() const;
  std::optional<Proposal> propose_blocks() const;
  std::optional<Proposal> propose_more_threads() const;
  std::optional<Proposal> propose_fewer_threads() const;
  std::string held_back() const;
  bool open(const TunedSettings& settings) const noexcept;
  void compare(const TuneWindow& window);
  void go_on();
  void begin(Proposal proposal);
  void decide(bool better, double before, double after);
  void finish(std::string why);

  const TuningBounds growth_;
  const unsigned cores_, most_windows_;
  // `waits_`: windows in which tuning only waited until it was known what memory for blocks would save.
  unsigned windows_ = 0, waits_ = 0;
  unsigned calm_ = 0;  // how many windows in a row the caller hardly waited
  TunedSettings settings_, kept_, tried_;
  Phase phase_ = Phase::base;
  TuneWindow base_;                // the last window with the kept settings
  unsigned pairs_ = 0;             // pairs of windows of this trial: one with the kept and one with the tried settings
  double before_ = 0, after_ = 0;  // sums of the rates in these pairs, with the kept and with the tried settings
  std::vector<TunedSettings> refuted_;  // settings that lost a trial against the kept settings
  std::vector<TuneTrial> trials_;
  std::string end_;
  bool done_ = false;
};

}  // namespace penstock::detail::runtime
