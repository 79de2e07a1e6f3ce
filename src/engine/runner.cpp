#include <algorithm>
#include <utility>

#include "base/clock.hpp"
#include "base/failure.hpp"
#include "base/relax.hpp"
#include "engine/engine.hpp"

// What a runner does, from its first ticket to its last.
namespace penstock::detail {

// Opening a reader is a user's code and may take long: the mutex is let go meanwhile, and the caller counts as running
// by then. One that can't be opened is one runner fewer; the first of all ends the run.
ChainRun* Engine::lease_run(Lock& lock) noexcept {
  if (!idle_runs_.empty()) {
    ChainRun* run = idle_runs_.back();
    idle_runs_.pop_back();
    return run;
  }
  if (no_more_readers_) return nullptr;
  ++opening_;
  lock.unlock();
  std::unique_ptr<ChainRun> run;
  std::optional<Error> error;
  try {
    run = std::make_unique<ChainRun>(chain_, options_.scratch_limit, data_->source->open_reader());
    run->stop = stop_source_.get_token();
    run->rows.resize(ring_.layout().fields());
  } catch (...) {
    run.reset();
    error = described_error("read", data_->source.get());
  }
  lock.lock();
  --opening_;
  if (run != nullptr) {
    runs_.push_back(std::move(run));
    return runs_.back().get();
  }
  no_more_readers_ = true;
  reader_error_.emplace(error ? std::move(*error) : std::move(spare_));
  failed_ = runs_.empty() && opening_ == 0;
  return nullptr;
}

void Engine::runner_main(Lock& lock) noexcept {
  if (closed_ || paused_.load(std::memory_order_relaxed)) {
    --scheduled_;
    return;
  }
  ++running_;
  busy_ns_ -= now_ns();
  ChainRun* const run = lease_run(lock);
  if (run == nullptr) {
    --running_;
    --scheduled_;
    busy_ns_ += now_ns();
    changed_.notify_all();
    return;
  }
  threads_seen_ = std::max(threads_seen_, ++runners_);
  bool again = false;
  for (;;) {
    lock.unlock();
    run->delay.begin(now_ns());
    const bool gives_way = reordered_ != nullptr ? work_reordered(*run) : work_directly(*run);
    run->delay.end(now_ns());
    run->reader->pause();
    lock.lock();
    // Work is issued under this mutex, or by a runner that goes on itself and then wakes others, so none can be missed
    // between the look and the leave.
    if (closed_ || paused_.load(std::memory_order_relaxed) || failed_ || !has_work()) break;
    if (gives_way) {
      again = true;
      break;
    }
  }
  --runners_;
  --running_;
  busy_ns_ += now_ns();
  idle_runs_.push_back(run);
  if (!again || !submit_runner()) --scheduled_;
  changed_.notify_all();
}

// True: others wait for a thread, and this one has had its turn.
bool Engine::work_reordered(ChainRun& run) noexcept {
  const std::uint64_t begun = now_ns();
  while (!paused()) {
    if (!reordered_->step(run)) {
      for (int i = 0; i < 256 && !reordered_->has_work(); ++i) relax();
      if (!reordered_->has_work()) return false;
    }
    if (executor_->waiting() != 0 && now_ns() - begun > turn_ns) return true;
  }
  return false;
}

bool Engine::has_work() noexcept { return reordered_ != nullptr ? reordered_->has_work() : has_direct_work(); }

void Engine::finish_parts(BatchBuffer& buffer, std::uint32_t parts) noexcept {
  const BatchRing::Finished finished = ring_.finish(buffer, parts);
  if (finished == BatchRing::Finished::no) return;
  if (finished == BatchRing::Finished::discarded) {
    Lock lock(mutex_);
    ring_.release(buffer);
    return admit(lock);
  }
  if (!waiting_.load(std::memory_order_seq_cst)) return;
  // Held, so that the consumer is either asleep by now or has not looked yet; let go before it is woken, or it would
  // wake only to wait for the mutex.
  { const Lock lock(mutex_); }
  changed_.notify_all();
}

void Engine::help(Lock& lock) {
  ++running_;
  busy_ns_ -= now_ns();
  if (ChainRun* const run = lease_run(lock); run != nullptr) {
    lock.unlock();
    const std::uint64_t before = run->totals.samples.get();
    if (reordered_ != nullptr)
      reordered_->step(*run);
    else
      help_directly(*run);
    run->reader->pause();
    lock.lock();
    helped_ += run->totals.samples.get() - before;
    idle_runs_.push_back(run);
    if (has_work()) wake(lock);  // a runner may have found no reader while this one was used
  }
  --running_;
  busy_ns_ += now_ns();
  changed_.notify_all();  // on a device, the thread that helps is not the one that ends the run
}

}  // namespace penstock::detail
