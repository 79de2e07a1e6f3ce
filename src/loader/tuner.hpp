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

/// Decides with which settings a run goes on, from what is measured of it: it raises what the run lacks, keeps that
/// where batches then come faster, and takes it back where they don't.
///
/// What is tried is measured two to four times, and so is what it is compared with, in turns: a machine is slower now
/// and faster then. More memory for blocks is not tried but calculated, as how many decodes it saves is known.
class Tuner {
 public:
  /// The run begins with `growth.first`. `cores`: those that the process may use. It decides after `most_windows` at
  /// the latest.
  Tuner(const TuningBounds& growth, unsigned cores, unsigned most_windows = 64);

  /// Settings with which the next window is to be measured, or, once it is done, the run goes on.
  const TunedSettings& settings() const noexcept { return settings_; }
  bool done() const noexcept { return done_; }
  /// A window with these settings was measured.
  void measured(const TuneWindow& window);
  /// The settings can't be had, as there is no memory for them: the run has those that are kept.
  void refused();
  /// Nothing is tried any more, and the run goes on with these settings, as `why` says.
  void stop(const TunedSettings& settings, std::string why);
  /// Settings that are kept, whatever is tried.
  const TunedSettings& kept() const noexcept { return kept_; }

  /// What was tried, in that order.
  const std::vector<TuneStep>& steps() const noexcept { return steps_; }
  /// Why it is done.
  const std::string& end() const noexcept { return end_; }

 private:
  enum class Phase : std::uint8_t {
    base,        // the settings that are kept
    trial,       // others
    base_again,  // the former, once more
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
  unsigned windows_ = 0, waits_ = 0;  // waits: windows in which only blocks were waited for
  unsigned calm_ = 0;                 // windows in a row in which the caller hardly waited
  TunedSettings settings_, kept_, tried_;
  Phase phase_ = Phase::base;
  TuneWindow base_;                     // the last one with what is kept
  unsigned pairs_ = 0;                  // windows of what is kept and of what is tried, of this trial
  double before_ = 0, after_ = 0;       // their rates, summed
  std::vector<TunedSettings> refuted_;  // what was no better than what is kept now
  std::vector<TuneStep> steps_;
  std::string end_;
  bool done_ = false;
};

}  // namespace penstock::detail::runtime
