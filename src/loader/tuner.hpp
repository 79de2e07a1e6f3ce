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

/// Decides the settings of a run from measurements. Raises what the run lacks. Keeps the change if batches then come
/// faster, and takes it back otherwise.
///
/// A trial is measured two to four times, in turn with the settings that it is compared to, because a machine is faster
/// and slower at different times. More memory for blocks is calculated instead of tried, because the number of decodes
/// that it saves is known.
class Tuner {
 public:
  /// The run begins with `growth.first`. `cores`: number of cores that the process may use. It ends after
  /// `most_windows` at the latest.
  Tuner(const TuningBounds& growth, unsigned cores, unsigned most_windows = 64);

  /// Returns the settings for the next window, or, once it is done, for the rest of the run.
  const TunedSettings& settings() const noexcept { return settings_; }
  bool done() const noexcept { return done_; }
  /// Takes the measurements of a window with these settings.
  void measured(const TuneWindow& window);
  /// Notes that there is no memory for the settings; the run has those that are kept.
  void refused();
  /// Ends tuning: the run continues with these settings. `why`: the reason.
  void stop(const TunedSettings& settings, std::string why);
  /// Returns the kept settings, without the present trial.
  const TunedSettings& kept() const noexcept { return kept_; }

  /// Returns the trials, in order.
  const std::vector<TuneTrial>& trials() const noexcept { return trials_; }
  /// Returns why it is done.
  const std::string& end() const noexcept { return end_; }

 private:
  enum class Phase : std::uint8_t {
    base,        // the settings that are kept
    trial,       // the tried settings
    base_again,  // the kept settings, a second time
  };
  struct Proposal {
    TunedSettings settings;
    double share;  // share of the runners' time that speaks for it
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
  unsigned windows_ = 0, waits_ = 0;  // waits: windows in which runners waited only for blocks
  unsigned calm_ = 0;                 // successive windows in which the caller hardly waited
  TunedSettings settings_, kept_, tried_;
  Phase phase_ = Phase::base;
  TuneWindow base_;                     // the last window with the kept settings
  unsigned pairs_ = 0;                  // windows of this trial, one with the kept and one with the tried settings each
  double before_ = 0, after_ = 0;       // their rates, summed
  std::vector<TunedSettings> refuted_;  // settings that were not better than the kept ones
  std::vector<TuneTrial> trials_;
  std::string end_;
  bool done_ = false;
};

}  // namespace penstock::detail::runtime
