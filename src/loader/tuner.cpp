// SPDX-License-Identifier: Apache-2.0
#include "loader/tuner.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "report/number_words.hpp"

namespace penstock::detail::runtime {

namespace {

// If the caller waits for a smaller share of the time, faster batches would gain little.
constexpr double least_wait = 0.03;
constexpr unsigned most_calm = 8;  // tuning ends after this many windows in a row below `least_wait`
// Tuning waits at most this many times `most_windows_` windows to learn what memory for blocks would save.
constexpr unsigned most_waits = 8;
// No trial is made if runners lack something for a smaller share of their time. `least_lack` is for trials of twice as
// much, `least_far_lack` for trials of eight times as much.
constexpr double least_lack = 0.03, least_far_lack = 0.1;
// The gain is the rate with the tried settings, divided by the rate with the kept settings, over all pairs of windows
// so far. A trial goes on after the first pair if the gain is at least `first_gain`. After each later pair it goes on
// if the gain is at least `least_gain` and less than `clear_gain`, up to `most_pairs` pairs. A trial of two or more
// pairs succeeds if its gain is at least `least_gain`.
constexpr double first_gain = 1, least_gain = 1.03, clear_gain = 1.1;
constexpr unsigned most_pairs = 4;

// Returns the one setting in which `from` and `to` differ.
TuneTrial trial_of(const TunedSettings& from, const TunedSettings& to) {
  TuneTrial step;
  const auto differ = [&](const char* name, std::uint64_t before, std::uint64_t after) {
    if (before == after) return;
    step.setting = name;
    step.from = before;
    step.to = after;
  };
  differ("threads", from.threads, to.threads);
  differ("depth", from.depth, to.depth);
  differ("max_reorder_bytes", from.entries, to.entries);
  differ("max_block_bytes", from.block_limit, to.block_limit);
  return step;
}

}  // namespace

Tuner::Tuner(const TuningBounds& growth, unsigned cores, unsigned most_windows)
    : growth_(growth), cores_(cores), most_windows_(most_windows), settings_(growth.first), kept_(growth.first) {}

void Tuner::measured(const TuneWindow& window) {
  if (done_) return;
  ++windows_;
  switch (phase_) {
    case Phase::base:
      base_ = window;
      // If more memory for blocks was kept without a trial, this is the first window that shows the rate with it.
      if (!trials_.empty() && trials_.back().kept && trials_.back().after_samples_per_s == 0)
        trials_.back().after_samples_per_s = window.rate;
      return go_on();
    case Phase::trial:
      return compare(window);
    case Phase::base_again:
      base_ = window;
      phase_ = Phase::trial;
      settings_ = tried_;
      return;
  }
}

// A machine's speed may change. So one pair of windows can refute a trial but not confirm it.
void Tuner::compare(const TuneWindow& window) {
  ++pairs_;
  before_ += base_.rate;
  after_ += window.rate;
  const double gain = after_ / std::max(before_, 1e-9);
  const bool open = pairs_ == 1 ? gain >= first_gain : pairs_ < most_pairs && gain >= least_gain && gain < clear_gain;
  if (open) {
    phase_ = Phase::base_again;
    settings_ = kept_;
    return;
  }
  const bool better = pairs_ > 1 && gain >= least_gain;
  if (better) base_ = window;
  decide(better, before_ / pairs_, after_ / pairs_);
}

void Tuner::refused() {
  if (done_) return;
  trials_.back().why += "; there was no memory for it";
  decide(false, base_.rate, 0);
}

void Tuner::stop(const TunedSettings& settings, std::string why) {
  settings_ = kept_ = settings;
  finish(std::move(why));
}

// Ends the trial. The last window with the kept settings shows what to try next.
void Tuner::decide(bool better, double before, double after) {
  TuneTrial& step = trials_.back();
  step.before_samples_per_s = before;
  step.after_samples_per_s = after;
  step.kept = better;
  if (better) {
    refuted_.assign(1, kept_);
    kept_ = tried_;
  } else {
    refuted_.push_back(tried_);
  }
  settings_ = kept_;
  go_on();
}

void Tuner::go_on() {
  phase_ = Phase::base;
  // One window in which the caller hardly waits does not end tuning, because the caller may need more time for its
  // first batches than for later ones.
  calm_ = base_.wait_share < least_wait ? calm_ + 1 : 0;
  if (calm_ >= most_calm)
    return finish("the caller waits " + percent(base_.wait_share) + " of the time: faster batches would gain nothing");
  if (calm_ != 0) return;
  if (windows_ >= most_windows_) return finish("it was tried long enough");
  if (std::optional<Proposal> proposal = propose()) return begin(std::move(*proposal));
  if (base_.blocks_known) return finish("nothing else is likely to make batches faster" + held_back());
  --windows_;
  if (++waits_ >= most_waits * most_windows_) finish("it was tried long enough");
}

void Tuner::begin(Proposal proposal) {
  TuneTrial step = trial_of(kept_, proposal.settings);
  step.why = std::move(proposal.why);
  step.before_samples_per_s = base_.rate;
  settings_ = tried_ = proposal.settings;
  if (step.setting == "max_block_bytes") {
    step.kept = true;
    kept_ = tried_;
    refuted_.clear();
  } else {
    phase_ = Phase::trial;
    pairs_ = 0;
    before_ = after_ = 0;
  }
  trials_.push_back(std::move(step));
}

void Tuner::finish(std::string why) {
  done_ = true;
  end_ = std::move(why);
}

// Returns whether settings may be tried: they differ from the kept settings, there is memory for them, and they were
// not refuted.
bool Tuner::open(const TunedSettings& settings) const noexcept {
  return settings != kept_ && growth_.cost(settings) <= growth_.bytes &&
         std::ranges::find(refuted_, settings) == refuted_.end();
}

std::optional<Tuner::Proposal> Tuner::propose() const {
  if (auto blocks = propose_blocks()) return blocks;
  std::vector<Proposal> all;
  const auto add = [&](const TunedSettings& to, double share, double least, const char* what) {
    if (share >= least && open(to)) all.push_back({to, share, what + percent(share) + " of their time"});
  };
  // Proposes eight times as much too, because twice as much may be far too little.
  for (const unsigned times : {2u, 8u}) {
    const double least = times == 2 ? least_lack : least_far_lack;
    TunedSettings deeper = kept_, more_entries = kept_;
    deeper.depth = std::min(times * kept_.depth, growth_.most.depth);
    more_entries.entries = std::min(times * kept_.entries, growth_.most.entries);
    add(deeper, base_.no_batch, least, "runners had no batch to write to, or waited for one slow sample, ");
    add(more_entries, base_.no_entry, least, "runners waited for an older sample, as there was no room for another, ");
  }
  if (auto threads = propose_more_threads()) all.push_back(std::move(*threads));
  if (all.empty()) return propose_fewer_threads();
  return *std::ranges::max_element(all, {}, &Proposal::share);
}

std::optional<Tuner::Proposal> Tuner::propose_blocks() const {
  TunedSettings to = kept_;
  to.block_limit = kept_.block_limit + std::min(kept_.block_limit, growth_.most.block_limit - kept_.block_limit);
  // Blocks get only the memory that raises of other settings have left.
  if (const std::size_t cost = growth_.cost(to); cost > growth_.bytes)
    to.block_limit -= std::min(to.block_limit - kept_.block_limit, cost - growth_.bytes);
  // After memory for blocks was added, enough blocks must be loaded before it is known what still more would save.
  if (!base_.blocks_known || base_.saved_by_blocks < least_lack || !open(to)) return std::nullopt;
  return Proposal{to, base_.saved_by_blocks,
                  "twice as much saves decodes that take " + percent(base_.saved_by_blocks) + " of the runners' time"};
}

// Proposes more threads. Proposes more threads than cores only if runners often wait while they make samples.
std::optional<Tuner::Proposal> Tuner::propose_more_threads() const {
  constexpr double least_in_work = 0.5, least_waiting = 0.1;
  const unsigned now = kept_.threads, most = growth_.most.threads;
  if (now >= most || base_.in_work < least_in_work) return std::nullopt;
  if (now >= cores_ && base_.waiting < least_waiting) return std::nullopt;
  const std::string why = now < cores_ ? "there are " + std::to_string(cores_) + " cores"
                                       : "samples wait " + percent(base_.waiting) + " of the time they take";
  for (const unsigned more : {now, (now + 1) / 2}) {
    TunedSettings to = kept_;
    to.threads = std::min(now < cores_ ? std::min(now + more, cores_) : now + more, most);
    if (open(to)) return Proposal{to, base_.in_work, why};
  }
  return std::nullopt;
}

// Returns words about the setting that runners lack most among the settings that can't be raised. Returns an empty text
// if they lack little of all these settings.
std::string Tuner::held_back() const {
  constexpr double least_in_work = 0.5;
  constexpr std::string_view entries = "max_reorder_bytes";  // the value here is a number of entries, not bytes
  std::string words;
  double largest = least_far_lack;
  const auto look = [&](std::string_view setting, std::uint64_t now, std::uint64_t most, RaiseLimit by, double share,
                        const std::string& lack) {
    if (now < most || share < largest) return;
    largest = share;
    const std::string value =
        "`" + std::string(setting) + "`" + (setting == entries ? "" : " = " + std::to_string(now));
    words = by == RaiseLimit::option     ? ", but " + value + ", which is set and so stays as it is, "
            : by == RaiseLimit::executor ? ", but " + value + ", all threads of the executor, "
            : by == RaiseLimit::stream   ? ", but " + value + ", which `tune` does not change for a stream, "
                                         : ", but " + value + ", the most that there is memory for or that is tried, ";
    words += "bounds the run: " + lack;
  };
  look(
      "depth", kept_.depth, growth_.most.depth, growth_.depth_by, base_.no_batch,
      "runners had no batch to write to, or waited for one slow sample, " + percent(base_.no_batch) + " of their time");
  look(entries, kept_.entries, growth_.most.entries, growth_.entries_by, base_.no_entry,
       "runners waited for an older sample, as there was no room for another, " + percent(base_.no_entry) +
           " of their time");
  look("max_block_bytes", kept_.block_limit, growth_.most.block_limit, growth_.blocks_by, base_.saved_by_blocks,
       "twice as much would save decodes that take " + percent(base_.saved_by_blocks) + " of the runners' time");
  if (base_.in_work >= least_in_work && (kept_.threads < cores_ || base_.waiting >= least_far_lack))
    look("threads", kept_.threads, growth_.most.threads, growth_.threads_by, base_.in_work,
         kept_.threads < cores_ ? "there are " + std::to_string(cores_) + " cores"
                                : "samples wait " + percent(base_.waiting) + " of the time they take");
  return words;
}

// Proposes half the threads, because runners may hinder each other.
std::optional<Tuner::Proposal> Tuner::propose_fewer_threads() const {
  constexpr double least_in_work = 0.5;
  TunedSettings to = kept_;
  to.threads = (kept_.threads + 1) / 2;
  if (!growth_.tunes_threads || base_.in_work < least_in_work || !open(to)) return std::nullopt;
  return Proposal{to, base_.in_work, "nothing else is left to try: fewer may be less in each other's way"};
}

}  // namespace penstock::detail::runtime
