// SPDX-License-Identifier: Apache-2.0
#include "write/write_window.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include <penstock/extend/float_mode.hpp>

#include "base/clock.hpp"
#include "base/counters.hpp"
#include "chain/measured_samples.hpp"
#include "chain/source_work.hpp"

namespace penstock::detail::runtime {

namespace {

// By default, the window has room for `most_a_thread` samples per thread, so that runners continue while the sink
// commits. More than `fewest_a_thread` samples per thread are begun only while all finished samples together are small.
constexpr std::size_t most_a_thread = 256, fewest_a_thread = 32;
// Runners begin with this much scratch, so that samples with small values need little memory.
constexpr std::size_t first_scratch_bytes = 4096;
// While the caller waits, it makes samples itself if they take less time than this. Falling asleep and being woken
// would take longer.
constexpr std::chrono::microseconds short_sample{10};
// After a sample that takes this long, the caller makes no samples for a while.
constexpr std::uint64_t long_sample_ns = 1'000'000;
// Runners wake the caller only for several finished samples. After this time they wake the caller for a single sample.
constexpr std::chrono::nanoseconds longest_wait{8'000'000};
// At most this many samples are published or taken together under one lock of the mutex.
constexpr std::size_t at_once = 8;

std::size_t entries_for(const PipelineData& data, const WriteOptions& options, unsigned threads) {
  const std::uint64_t wanted = options.max_in_flight != 0 ? options.max_in_flight : most_a_thread * threads;
  return static_cast<std::size_t>(std::clamp<std::uint64_t>(wanted, 1, std::max<std::uint64_t>(data.size, 1)));
}

}  // namespace

WriteWindow::WriteWindow(std::shared_ptr<const PipelineData> data, const WriteOptions& options, unsigned threads,
                         Executor::Impl& executor)
    : data_(std::move(data)),
      chain_(data_),
      stop_(options.stop),
      executor_(executor),
      queue_(entries_for(*data_, options, threads), fewest_a_thread * threads, options.max_waiting_bytes),
      free_cells_(queue_.entries()),
      pool_(*this, monitor_, executor, threads, threads, short_sample) {
  monitor_.paused.store(false, std::memory_order_seq_cst);
  idle_.begin(now_ns());
}

WriteWindow::~WriteWindow() {
  pool_.cut_link();
  monitor_.paused.store(true, std::memory_order_seq_cst);
  Lock lock(monitor_.mutex);
  monitor_.closed = true;
  monitor_.changed.wait(lock, [this] { return pool_.idle(); });
}

void WriteWindow::admit(SinkItem item) {
  queue_.admit(std::move(item)).state = WriteEntry::State::waiting;
  if (queue_.unpublished() >= at_once) publish();
}

void WriteWindow::admit_bad(SinkItem item, Error error) {
  WriteEntry& entry = queue_.admit(std::move(item));
  entry.error = std::move(error);
  entry.state = WriteEntry::State::done;
  publish();
}

void WriteWindow::publish() noexcept {
  if (queue_.unpublished() == 0) return;
  Lock lock(monitor_.mutex);
  queue_.publish();
  pool_.wake(lock);
  note_idle();
}

void WriteWindow::end() noexcept {
  const Lock lock(monitor_.mutex);
  ended_ = true;
  note_idle();
}

RunTotals WriteWindow::totals() const {
  RunTotals totals;
  totals.steps.resize(chain_.all_steps().size());
  const Lock lock(monitor_.mutex);
  pool_.add_to(totals);
  totals.threads = pool_.threads();
  totals.idle = idle_.counts();
  totals.kept = kept_;
  return totals;
}

Error WriteWindow::reader_error() {
  const Lock lock(monitor_.mutex);
  return *pool_.reader_error();
}

void WriteWindow::pop(std::size_t count) {
  std::array<std::unique_ptr<FinishedCells>, at_once> unwanted;  // destroyed after the lock
  Lock lock(monitor_.mutex);
  for (std::size_t i = 0; i < count; ++i) unwanted[i] = free_cells_.add(std::move(queue_.pop().values));
  if (!queue_.all_begun()) pool_.wake(lock);  // there may be room for finished bytes again
  idle_.take();
  note_idle();
}

std::size_t WriteWindow::take() {
  const std::uint64_t asked = now_ns();
  Lock lock(monitor_.mutex);
  const std::size_t count = take(lock);
  waited_ns_ += now_ns() - asked;
  pool_.look_at_waits(lock, coarse_now_ns());
  return count;
}

std::size_t WriteWindow::take(Lock& lock) {
  if (starved()) work_along(lock);
  const auto done = [this] { return queue_.is_oldest_done() && (takes_ || worth_waking()); };
  takes_ = takes_ && done();
  if (!done()) pool_.leave_if_long(lock);
  while (!done() && !pool_.failed()) {
    if (queue_.is_oldest_done())
      monitor_.changed.wait_for(lock, longest_wait);
    else
      pool_.sleep_or_help(lock, done);  // wakes within 5 ms, because time alone may make `done` true
  }
  if (!done()) return 0;
  if (!takes_) woken_ns_ = now_ns();
  takes_ = true;
  return queue_.take(at_once);
}

// Makes samples on the caller's thread instead of waiting, if samples are short. The caller can't know beforehand that
// a sample is long. While the caller makes a long sample, finished samples wait. After it, the caller makes no further
// sample.
void WriteWindow::work_along(Lock& lock) noexcept {
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

// Returns whether to wake the caller: enough samples are done, no sample can be begun at present, or `longest_wait` has
// passed since the caller last began to take samples.
bool WriteWindow::worth_waking() noexcept {
  return queue_.is_half_done() || !has_work() ||
         now_ns() - woken_ns_ >= static_cast<std::uint64_t>(longest_wait.count());
}

// Notes how many runners are idle, and why. The reason is Idle::threads if there is work. If there is no work, it is
// Idle::caller if the oldest sample is done or all published samples were taken, and otherwise Idle::straggler.
void WriteWindow::note_idle(std::uint64_t now) noexcept {
  IdleTime::IdleState to;
  to.runners = pool_.most();
  to.idle = pool_.idle_runners();
  const bool left = has_work();
  to.ended = ended_ && queue_.all_begun();
  const bool is_next_done = queue_.all_taken() || queue_.is_oldest_done();
  to.why = left ? Idle::threads : is_next_done ? Idle::caller : Idle::straggler;
  if (!idle_.still_busy(to)) idle_.change(now != 0 ? now : now_ns(), to);
}

std::unique_ptr<ChainRun> WriteWindow::open_run() {
  auto run = std::make_unique<ChainRun>(chain_, ~std::size_t{0}, open_reader(*data_->source));
  run->arena.set_min_block(first_scratch_bytes);
  run->stop = stop_;
  run->counters.measured_samples = std::make_unique<MeasuredSamples>();
  return run;
}

bool WriteWindow::work(ChainRun& run) noexcept {
  const Turn turn(executor_);
  bool gives_way = false, wakes = false;
  for (Lock lock(monitor_.mutex); !gives_way && !monitor_.is_paused() && has_work(); gives_way = turn.over())
    wakes = make_one(run, lock, wakes);
  if (wakes) monitor_.changed.notify_all();
  return gives_way;
}

void WriteWindow::help(ChainRun& run) noexcept {
  Lock lock(monitor_.mutex);
  if (has_work()) make_one(run, lock, false);
}

// Makes one sample with the mutex unlocked. If `wakes` is true, wakes the caller before it makes the sample, but only
// after it has unlocked the mutex, so that the caller need not wait for the mutex. Returns whether the caller should be
// woken after this sample.
bool WriteWindow::make_one(ChainRun& run, Lock& lock, bool wakes) noexcept {
  WriteEntry& entry = queue_.begin();
  entry.values = free_cells_.take();
  lock.unlock();
  if (wakes) monitor_.changed.notify_all();
  make(entry, run);
  lock.lock();
  queue_.end(entry);
  if (entry.kept && !entry.error && !entry.broken) ++kept_;
  return queue_.is_oldest_done() && worth_waking();
}

void WriteWindow::make(WriteEntry& entry, ChainRun& run) noexcept {
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

}  // namespace penstock::detail::runtime
