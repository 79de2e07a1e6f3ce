// SPDX-License-Identifier: Apache-2.0
#include "loader/tuning.hpp"

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "base/cores.hpp"
#include "reorder/reordered.hpp"

namespace penstock::detail::runtime {

namespace {

// If the caller is away for longer than `pause_ns`, and also for longer than `pause_times` batches take, it does
// something else, like a validation or a checkpoint. That time is not counted.
constexpr std::uint64_t pause_ns = 1'000'000'000, pause_times = 20;

double share_of(std::uint64_t part, std::uint64_t all) noexcept {
  return all == 0 ? 0 : std::clamp(static_cast<double>(part) / static_cast<double>(all), 0.0, 1.0);
}

double share_of(const IdleTime::Counts& idle, std::initializer_list<Idle> reasons) noexcept {
  std::uint64_t sum = 0;
  for (const Idle why : reasons) sum += idle.idle_ns[static_cast<std::size_t>(why)];
  return share_of(sum, idle.all_ns);
}

double waiting_of(const RunTotals& t) noexcept {
  std::uint64_t wait_ns = t.loads.wait_ns;
  for (const StepTotals& step : t.steps) wait_ns += step.wait_ns;
  return share_of(wait_ns, t.wall_ns);
}

}  // namespace

Tuning::Tuning(Engine& engine, unsigned device_depth)
    : engine_(engine),
      device_depth_(device_depth),
      entry_bytes_(ReorderedWork::entry_bytes(engine.data())),
      tuner_(*engine.setup().plan.growth, usable_cores()),
      block_limit_(tuner_.settings().block_limit) {
  begin_window();
  note(false);
}

void Tuning::begin_window() noexcept {
  batches_ = samples_ = took_ns_ = waited_ns_ = 0;
  to_skip_ = tune_pace.skips ? tuner_.settings().depth + std::uint64_t{device_depth_} : 1;
}

Tuning::Next Tuning::delivered(std::uint64_t begun, std::uint64_t now, std::uint64_t samples) {
  const std::uint64_t last = std::exchange(last_ns_, now);
  if (first_ns_ == 0) first_ns_ = now;
  ++seen_batches_;
  seen_samples_ += samples;
  if (waits_for_memory_) return go_on_waiting();
  if (tuner_.done()) return Next::done;
  if (to_skip_ != 0) {
    if (--to_skip_ == 0) before_ = engine_.totals();
    return Next::go_on;
  }
  const std::uint64_t away = begun - std::min(begun, last), in_next = now - begun;
  const bool pause = away > pause_ns && away > pause_times * took_ns_ / std::max<std::uint64_t>(batches_, 1);
  took_ns_ += in_next + (pause ? 0 : away);
  waited_ns_ += in_next;
  ++batches_;
  samples_ += samples;
  if (batches_ < tune_pace.batches || took_ns_ < tune_pace.ns) return Next::go_on;
  tuner_.measured(tune_pace.made_up != nullptr ? tune_pace.made_up() : window_of(engine_.totals()));
  return change();
}

TuneWindow Tuning::window_of(const RunTotals& totals) {
  const RunTotals t = since(totals, before_);
  TuneWindow w;
  w.rate = static_cast<double>(samples_) / (static_cast<double>(took_ns_) * 1e-9);
  w.wait_share = share_of(waited_ns_, took_ns_);
  w.no_batch = share_of(t.idle, {Idle::buffers, Idle::straggler, Idle::leases});
  w.no_entry = share_of(t.idle, {Idle::entries});
  std::uint64_t idle_ns = 0;
  for (const std::uint64_t ns : t.idle.idle_ns) idle_ns += ns;
  w.in_work = t.idle.all_ns == 0 ? 0 : 1 - share_of(idle_ns, t.idle.all_ns);
  // Only a small part of the samples is measured. If the window has no measured sample, uses the whole run.
  w.waiting = waiting_of(t.wall_ns != 0 ? t : totals);
  if (totals.blocks.loads == 0) return w;
  w.saved_by_blocks =
      share_of(t.loads.cpu_ns + t.loads.wait_ns, t.busy_ns) * share_of(t.blocks.saved_by_double, t.blocks.loads);
  // Memory that was never full may have room for all blocks. So as long as the window loads blocks and there may be
  // more memory, the share is known only after as many bytes were loaded as fill the memory `times` times.
  constexpr std::uint64_t times = 3;
  filled_bytes_ += t.loads.bytes;
  w.blocks_known = t.blocks.loads == 0 || filled_bytes_ / times >= block_limit_ ||
                   block_limit_ >= engine_.setup().plan.most().block_limit;
  return w;
}

// Waits until the memory that a change released is free. Stops waiting after 1,000 batches, because the caller may hold
// a batch forever.
Tuning::Next Tuning::go_on_waiting() {
  constexpr std::uint64_t most = 1000;
  waits_for_memory_ = !engine_.trim();
  if (!waits_for_memory_) return change();
  if (++waited_batches_ < most) return Next::go_on;
  if (tuner_.done()) return Next::done;
  tuner_.stop(engine_.settings(), "the caller held a batch that a trial had given up, for 1,000 batches");
  return change();
}

Tuning::Next Tuning::change() {
  waited_batches_ = 0;
  const TunedSettings before = engine_.settings();
  apply();
  begin_window();
  const TunedSettings& now = engine_.settings();
  if (now.block_limit != block_limit_) {
    block_limit_ = now.block_limit;
    filled_bytes_ = 0;
  }
  note(now != before);
  return now.entries != before.entries ? Next::begin_anew : now != before ? Next::changed : Next::go_on;
}

void Tuning::apply() {
  const TunedSettings& wanted = tuner_.settings();
  while (engine_.settings() != wanted) try {
      // Lowers settings first. Raises need memory that lower settings release, and that may still be in use.
      TunedSettings fewer = engine_.settings();
      fewer.depth = std::min(fewer.depth, wanted.depth);
      fewer.entries = std::min(fewer.entries, wanted.entries);
      if (fewer != engine_.settings()) engine_.change(fewer);
      waits_for_memory_ = !engine_.trim();
      if (waits_for_memory_) return;
      engine_.change(wanted);
    } catch (...) {
      engine_.trim();
      if (engine_.settings() == tuner_.kept() && !tuner_.done())
        tuner_.refused();
      else
        tuner_.stop(engine_.settings(), "there was no memory to take a trial back");
    }
  waits_for_memory_ = !engine_.trim();
}

// Updates the report under the mutex, because any thread may ask for it. `changed`: the report's counts begin at this
// moment.
void Tuning::note(bool changed) noexcept {
  const TunedSettings& now = engine_.settings();
  const std::lock_guard lock(mutex_);
  if (changed) {
    report_.batches = seen_batches_;
    report_.samples = seen_samples_;
    report_.seconds = static_cast<double>(last_ns_ - first_ns_) * 1e-9;
  }
  report_.done = tuner_.done();
  report_.threads = now.threads;
  report_.depth = now.depth;
  report_.max_reorder_bytes = now.entries * entry_bytes_;
  report_.max_block_bytes = now.block_limit;
  try {
    report_.end = tuner_.end();
    report_.trials = tuner_.trials();
  } catch (...) {  // no memory for the list of trials
    report_.trials.clear();
  }
  for (TuneTrial& step : report_.trials) {
    if (step.setting != "max_reorder_bytes") continue;
    step.from *= entry_bytes_;
    step.to *= entry_bytes_;
  }
}

TuneReport Tuning::report() const {
  const std::lock_guard lock(mutex_);
  return report_;
}

}  // namespace penstock::detail::runtime
