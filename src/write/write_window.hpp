#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

#include <penstock/error.hpp>

#include "base/clock.hpp"
#include "base/counters.hpp"
#include "base/float_mode.hpp"
#include "base/run_delay.hpp"
#include "chain/chain.hpp"
#include "chain/measured_samples.hpp"
#include "chain/source_work.hpp"
#include "engine/idle_time.hpp"
#include "engine/runner_pool.hpp"
#include "write/finished_cells.hpp"
#include "write/write.hpp"

namespace penstock::detail {

// So many samples a thread are in work where nothing else is said, so that runners go on while the sink commits: those
// beyond the fewest only while finished ones are small.
constexpr std::size_t most_a_thread = 256, fewest_a_thread = 32;
constexpr std::size_t small_bytes = std::size_t{32} << 20;
// Runners begin with so much memory for a sample: what is taken with small values must not be much.
constexpr std::size_t first_scratch_bytes = 4096;
// The caller makes samples that take less: to fall asleep and be woken while it waits for them takes longer.
constexpr std::chrono::microseconds short_sample{10};
// After one that takes so much more, it leaves the others to runners for a while.
constexpr std::uint64_t long_sample_ns = 1'000'000;

// A sample on its way to the sink.
struct WriteEntry {
  enum class State : std::uint8_t { empty, waiting, running, done } state = State::empty;
  SinkItem item;
  std::unique_ptr<FinishedCells> values;
  std::optional<Error> error;
  bool broken = false;      // there was no memory to say what failed
  bool kept = true;         // false: filtered
  std::uint64_t bytes = 0;  // bytes of its values
  std::uint64_t held = 0;   // bytes that count while it waits
};

// Samples in work, oldest first. The caller's thread admits and takes them; runners make them. A reader may be a file
// and a decoder, so there are as many as samples are made at once, not as many as wait.
class WriteWindow final : private RunnerWork {
 public:
  WriteWindow(std::shared_ptr<const PipelineData> data, const WriteOptions& options, unsigned threads,
              Executor::Impl& executor)
      : data_(std::move(data)),
        chain_(data_),
        entries_(std::clamp<std::uint64_t>(options.max_in_flight != 0 ? options.max_in_flight : most_a_thread * threads,
                                           1, std::max<std::uint64_t>(data_->size, 1))),
        fewest_(std::min<std::size_t>(entries_.size(), fewest_a_thread * threads)),
        max_bytes_(options.max_waiting_bytes),
        stop_(options.stop),
        executor_(executor),
        pool_(*this, monitor_, executor, threads, threads, short_sample) {
    free_cells_.reserve(entries_.size());
    monitor_.paused.store(false, std::memory_order_seq_cst);
    idle_.begin(now_ns());
  }
  ~WriteWindow() override {
    pool_.close_door();
    monitor_.paused.store(true, std::memory_order_seq_cst);
    Lock lock(monitor_.mutex);
    monitor_.closed = true;
    monitor_.changed.wait(lock, [this] { return pool_.idle(); });
  }
  WriteWindow(const WriteWindow&) = delete;
  WriteWindow& operator=(const WriteWindow&) = delete;

  // Worth filling up: where single samples came and went, runners would fall asleep and be woken for each.
  bool has_room() const noexcept { return entries_.size() - (admitted_ - head_) >= enough(); }
  bool empty() const noexcept { return admitted_ == head_; }
  bool full() const noexcept { return admitted_ - head_ == entries_.size(); }

  // Runners see it with the next few, or once `publish` is called.
  void admit(SinkItem item) {
    place(std::move(item)).state = WriteEntry::State::waiting;
    if (admitted_ - tail_ >= at_once) publish();
  }
  // In its place, a sample that nobody need make to know that it is bad.
  void admit_bad(SinkItem item, Error error) {
    WriteEntry& entry = place(std::move(item));
    entry.error = std::move(error);
    entry.state = WriteEntry::State::done;
    publish();
  }
  void publish() noexcept {
    if (tail_ == admitted_) return;
    Lock lock(monitor_.mutex);
    for (std::uint64_t number = tail_; number < admitted_; ++number)
      if (at(number).state == WriteEntry::State::done) ++done_;
    tail_ = admitted_;
    pool_.wake(lock);
    note_idle();
  }
  // Nothing is admitted any more: runners without work wait for nothing then.
  void end() noexcept {
    const Lock lock(monitor_.mutex);
    ended_ = true;
    note_idle();
  }
  // Waits for the oldest sample, and for so many more that to be woken costs little for each. Returns how many from the
  // oldest on are done, a few at most: they are the caller's until `pop`. 0 where no reader can be opened at all.
  std::size_t take() {
    const std::uint64_t asked = now_ns();
    Lock lock(monitor_.mutex);
    const std::size_t count = take(lock);
    waited_ns_ += now_ns() - asked;
    pool_.look_at_waits(lock, coarse_now_ns());
    return count;
  }
  WriteEntry& taken(std::size_t i) noexcept { return at(head_ + i); }
  // How long the caller waited for samples, or made some itself meanwhile. The caller's.
  std::uint64_t waited_ns() const noexcept { return waited_ns_; }
  const Chain& chain() const noexcept { return chain_; }
  RunTotals totals() const {
    RunTotals totals;
    totals.steps.resize(chain_.steps().size());
    const Lock lock(monitor_.mutex);
    pool_.add_to(totals);
    totals.threads = pool_.threads();
    totals.idle = idle_.counts();
    totals.kept = kept_;
    return totals;
  }
  Error reader_error() {
    const Lock lock(monitor_.mutex);
    return *pool_.reader_error();
  }
  void pop(std::size_t count) {
    std::array<std::unique_ptr<FinishedCells>, at_once> unwanted;  // go after the lock
    Lock lock(monitor_.mutex);
    for (std::size_t i = 0; i < count; ++i) {
      WriteEntry& entry = at(head_++);
      entry.state = WriteEntry::State::empty;
      if (entry.values == nullptr) continue;
      const std::size_t bytes = entry.values->capacity();
      if (free_bytes_ + bytes <= small_bytes) {
        free_bytes_ += bytes;
        free_cells_.push_back(std::move(entry.values));
      } else {
        unwanted[i] = std::move(entry.values);
      }
    }
    done_ -= count;
    if (next_ < tail_) pool_.wake(lock);  // there may be room for bytes again
    idle_.take();
    note_idle();
  }

 private:
  using Lock = Monitor::Lock;

  std::size_t take(Lock& lock) {
    if (starved()) work_along(lock);
    const auto done = [this] { return at(head_).state == WriteEntry::State::done && (takes_ || worth_waking()); };
    takes_ = takes_ && done();
    if (!done()) pool_.leave_if_long(lock);
    while (!done() && !pool_.failed()) {
      if (at(head_).state == WriteEntry::State::done)
        monitor_.changed.wait_for(lock, longest_wait);
      else
        pool_.sleep_or_help(lock, done, longest_wait);
    }
    if (!done()) return 0;
    if (!takes_) woken_ns_ = now_ns();
    takes_ = true;
    std::size_t count = 0;
    for (std::size_t bytes = 0; count < at_once && head_ + count < tail_; ++count) {
      const WriteEntry& entry = at(head_ + count);
      // What is taken counts no longer as waiting: that must be little.
      if (entry.state != WriteEntry::State::done || (count != 0 && bytes + entry.held > max_bytes_ / 16)) break;
      bytes += entry.held;
      bytes_ -= entry.held;
    }
    return count;
  }

  // The caller would have to wait, and there are samples to make.
  bool starved() noexcept { return at(head_).state != WriteEntry::State::done && has_work(); }
  // Makes samples meanwhile, if they are short. It can't know of one that it is long: what is done before such a one
  // waits for it, but no other is made then.
  void work_along(Lock& lock) noexcept {
    lock.unlock();
    const FloatMode standard;
    const std::uint64_t begun = now_ns();
    ChainRun* const run = pool_.join(begun, false);
    lock.lock();
    if (run == nullptr) return;
    std::uint64_t made = 0, now = begun, before = begun;
    for (; starved() && pool_.short_samples() && now - before < long_sample_ns; ++made) {
      before = now;
      make_one(*run, lock, false);
      now = now_ns();
    }
    pool_.count_joined(made, now - begun);
    if (now - before < long_sample_ns) return;
    lock.unlock();
    const std::uint64_t blocked = times_blocked();
    pool_.note_long(blocked != std::exchange(run->runner.blocked, blocked));
    lock.lock();
  }

  // Runners wake the caller for several samples; it looks by itself for one that is done before a long one.
  static constexpr std::chrono::nanoseconds longest_wait{8'000'000};
  // The mutex is taken once for so many samples that come or go together.
  static constexpr std::size_t at_once = 8;

  // After those that runners may look at, so without the mutex.
  WriteEntry& place(SinkItem item) {
    WriteEntry& entry = at(admitted_++);
    entry.item = std::move(item);
    entry.error.reset();
    entry.broken = false;
    entry.bytes = entry.held = 0;
    return entry;
  }
  WriteEntry& at(std::uint64_t number) { return entries_[number % entries_.size()]; }
  // So many free are worth filling up.
  std::size_t enough() const noexcept { return std::max<std::size_t>(entries_.size() / 8, 1); }
  // No sample is begun while finished ones have these.
  std::size_t most_bytes() const noexcept {
    return next_ - head_ < fewest_ ? max_bytes_ : std::min(max_bytes_, small_bytes);
  }
  // Where runners have nothing to begin with, they wait for what is taken.
  bool worth_waking() noexcept {
    return done_ >= std::max<std::size_t>(entries_.size() / 2, 1) || !has_work() ||
           now_ns() - woken_ns_ >= static_cast<std::uint64_t>(longest_wait.count());
  }

  // Why runners have nothing to do: all that is there is begun, or finished samples hold as many bytes as they may.
  void note_idle(std::uint64_t now = 0) noexcept {
    IdleTime::Now to;
    to.runners = pool_.most();
    to.idle = pool_.idle_runners();
    const bool left = has_work();
    to.ended = ended_ && next_ == tail_;
    const bool is_next_done = head_ == tail_ || at(head_).state == WriteEntry::State::done;
    to.why = left ? Idle::threads : is_next_done ? Idle::caller : Idle::straggler;
    if (!idle_.still_busy(to)) idle_.change(now != 0 ? now : now_ns(), to);
  }
  void runners_changed(std::uint64_t now) noexcept override { note_idle(now); }

  std::unique_ptr<ChainRun> open_run() override {
    auto run = std::make_unique<ChainRun>(chain_, ~std::size_t{0}, open_reader(*data_->source));
    run->arena.set_min_block(first_scratch_bytes);
    run->stop = stop_;
    run->counters.measured_samples = std::make_unique<MeasuredSamples>();
    return run;
  }
  bool has_work() noexcept override {
    for (next_ = std::max(next_, head_); next_ < tail_; ++next_)
      if (at(next_).state == WriteEntry::State::waiting)
        return bytes_ < most_bytes() || next_ == head_;  // the oldest is what makes room
    return false;
  }
  bool work(ChainRun& run) noexcept override {
    const Turn turn(executor_);
    bool gives_way = false, wakes = false;
    for (Lock lock(monitor_.mutex); !gives_way && !monitor_.is_paused() && has_work(); gives_way = turn.over())
      wakes = make_one(run, lock, wakes);
    if (wakes) monitor_.changed.notify_all();
    return gives_way;
  }
  void help(ChainRun& run) noexcept override {
    Lock lock(monitor_.mutex);
    if (has_work()) make_one(run, lock, false);
  }

  // `wakes`: the caller is to be woken first. It is, once the mutex is free, or it would wake only to wait for that.
  // Returns whether it is to be woken now.
  bool make_one(ChainRun& run, Lock& lock, bool wakes) noexcept {
    WriteEntry& entry = at(next_++);
    entry.state = WriteEntry::State::running;
    if (!free_cells_.empty()) {
      entry.values = std::move(free_cells_.back());
      free_cells_.pop_back();
      free_bytes_ -= entry.values->capacity();
    }
    lock.unlock();
    if (wakes) monitor_.changed.notify_all();
    make(entry, run);
    lock.lock();
    entry.state = WriteEntry::State::done;
    ++done_;
    bytes_ += entry.held;
    if (entry.kept && !entry.error && !entry.broken) ++kept_;
    return at(head_).state == WriteEntry::State::done && worth_waking();
  }
  void make(WriteEntry& entry, ChainRun& run) noexcept {
    entry.bytes = entry.held = 0;
    try {
      if (entry.values == nullptr) entry.values = std::make_unique<FinishedCells>();
      const std::uint64_t stands_for = run.counters.stands_for(entry.item.position);
      entry.kept = chain_.run(run, Place{0, entry.item.position, 0, 0}, entry.item.index, {}, stands_for);
      run.at = nullptr;
      if (entry.kept) {
        const FinishedCells::Bytes bytes = entry.values->take(run);
        entry.bytes = bytes.values;
        entry.held = bytes.held;
      }
    } catch (...) {
      try {
        entry.error = chain_.describe_failure(run, entry.item.index);
      } catch (...) {
        entry.broken = true;
      }
    }
    run.reader->pause();
  }

  std::shared_ptr<const PipelineData> data_;
  const Chain chain_;
  std::vector<WriteEntry> entries_;
  const std::size_t fewest_, max_bytes_;
  const std::stop_token stop_;
  Executor::Impl& executor_;
  std::uint64_t admitted_ = 0;   // the caller's
  std::uint64_t waited_ns_ = 0;  // the caller's
  mutable Monitor monitor_;
  IdleTime idle_;       // under its mutex
  bool ended_ = false;  // likewise
  std::uint64_t kept_ = 0;
  // Under its mutex; the caller alone changes `head_` and `tail_`, and so reads them without:
  std::uint64_t head_ = 0, tail_ = 0, next_ = 0;            // what stands before `tail_` is published
  std::uint64_t bytes_ = 0;                                 // what finished samples hold
  std::vector<std::unique_ptr<FinishedCells>> free_cells_;  // at the end the last used, whose memory is warm
  std::size_t free_bytes_ = 0;                              // bytes that `free_cells_` have
  std::size_t done_ = 0;
  std::uint64_t woken_ns_ = 0;  // when the caller last began to take
  bool takes_ = false;          // it does, for as long as the oldest is done
  RunnerPool pool_;
};

}  // namespace penstock::detail
