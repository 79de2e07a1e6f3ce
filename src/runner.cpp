#include <algorithm>
#include <chrono>
#include <utility>

#include "engine.hpp"
#include "failure.hpp"
#include "relax.hpp"

// What a runner does, from its first ticket to its last.
namespace penstock::detail {

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::uint32_t most_attempts = 8;

// Tickets are taken several at once where samples are so short that taking them is what costs. Together they last so
// short a time that order, stopping and sharing stay as prompt as with one.
constexpr std::uint64_t ns_at_once = 80'000, most_at_once = 16;
std::uint64_t tickets_at_once(std::uint64_t sample_ns) noexcept {
  return sample_ns == 0 ? 1 : std::clamp<std::uint64_t>(ns_at_once / sample_ns, 1, most_at_once);
}

// No stand-in was good either.
Error exhausted(const Error& first, const Error& last) {
  Error error(first.code(), first.cause() + "; the " + std::to_string(most_attempts) +
                                " records drawn to replace it failed too, the last one: " + last.what());
  error.with_stage(first.stage()).with_source(first.source()).with_file(first.file()).with_key(first.key());
  if (first.index()) error.with_index(*first.index());
  if (first.offset()) error.with_offset(*first.offset());
  return error;
}

}  // namespace

std::uint64_t now_ns() noexcept {
  return static_cast<std::uint64_t>(Clock::now().time_since_epoch() / std::chrono::nanoseconds(1));
}

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
    run->rows.resize(slots_.fields());
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
    const bool gives_way = work(*run);
    run->reader->pause();
    lock.lock();
    // Work is issued under this mutex, so none can be missed between the look and the leave.
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
bool Engine::work(ChainRun& run) noexcept {
  const Clock::time_point begun = Clock::now();
  // What this runner has made of one batch is counted at once, when it turns to another: the batch can't be ready
  // before, and the count is in memory that all runners share.
  Slot* slot = nullptr;
  std::uint32_t made = 0;
  const auto count = [&] {
    if (made != 0) finish_parts(*slot, made);
    made = 0;
  };
  for (;;) {
    if (paused_.load(std::memory_order_relaxed)) return false;
    if (advises_ && advice_waits()) {
      count();  // what is made must not wait for it
      advise();
    }
    TicketRun tickets = tickets_.take(tickets_at_once(run.sample_ns));
    if (tickets.count == 0) {
      count();
      // A consumer that is about to give a batch back costs less to await than a sleeping thread to wake.
      for (int i = 0; i < 256 && !tickets_.available(); ++i) relax();
      tickets = tickets_.take(1);
      if (tickets.count == 0) return false;
    }
    if (Slot* const next = &slot_of(tickets.first / rows_); next != slot) {
      count();
      slot = next;
    }
    if (!make_samples(run, *slot, tickets)) return false;
    made += static_cast<std::uint32_t>(tickets.count);
    if (executor_->waiting() != 0 && Clock::now() - begun > Executor::Impl::turn) {
      count();
      return true;
    }
  }
}

// The last tickets of a batch may be taken before its advice is.
bool Engine::has_work() const noexcept { return tickets_.available() || (advises_ && advice_waits()); }

bool Engine::advice_waits() const noexcept {
  return advised_.load(std::memory_order_relaxed) < admitted_.load(std::memory_order_acquire);
}

// Tells the source which records an admitted batch will want. It counts as one of the batch's parts, so the batch, and
// with it the list of indices, stays until it is done.
bool Engine::advise() noexcept {
  std::uint64_t ordinal = advised_.load(std::memory_order_relaxed);
  do {
    if (ordinal >= admitted_.load(std::memory_order_acquire)) return false;
  } while (!advised_.compare_exchange_weak(ordinal, ordinal + 1, std::memory_order_relaxed));
  Slot& slot = slot_of(ordinal);
  data_->source->will_need({slot.indices.data(), slot.valid});
  finish_parts(slot, 1);
  return true;
}

// False: the batch is given up, whatever becomes of it.
bool Engine::make_samples(ChainRun& run, Slot& slot, TicketRun tickets) noexcept {
  const std::uint64_t begin = tickets.first % rows_, end = begin + tickets.count;
  if (tickets.count > 1 && begin < slot.valid)
    run.reader->expect(std::span(slot.indices).subspan(begin, std::min(end, slot.valid) - begin));
  const std::uint64_t begun = tickets.count > 4 ? now_ns() : 0;
  for (std::uint64_t row = begin; row < end; ++row) {
    if (row != begin && paused_.load(std::memory_order_relaxed)) return false;
    if (row < slot.valid) {
      try {
        fill_row(run, slot, row, tickets.first + (row - begin));
      } catch (...) {  // no memory even to say what failed
        slot.broken.store(true, std::memory_order_relaxed);
      }
    } else if (row < slot.rows) {
      slots_.clear_row(slot, row);
    }
  }
  // Samples that became long must not be taken together once more before one of them happens to be measured.
  if (begun != 0)
    if (const std::uint64_t each = (now_ns() - begun) / tickets.count; each > 4 * run.sample_ns) run.sample_ns = each;
  return true;
}

void Engine::fill_row(ChainRun& run, Slot& slot, std::uint64_t row, std::uint64_t ticket) {
  for (std::size_t f = 0; f < run.rows.size(); ++f) run.rows[f] = slots_.place(slot, f, row);
  Place place{slot.epoch, slot.first + row, 0, 0};
  std::uint64_t index = slot.indices[row];
  const OnError policy = data_->policy_value().policy;
  std::optional<Error> first;
  for (;;) {
    try {
      chain_.run(run, place, index, run.rows,
                 place.attempt == 0 ? measures(ticket, run.totals.measured.get(), run.sample_ns) : 0);
      break;
    } catch (...) {
      Error error = chain_.describe_failure(run, index);
      run.copied_bytes = 0;
      const bool fatal = policy == OnError::fail || !error.sample_scoped();
      if (fatal || policy == OnError::mask) {
        slots_.clear_row(slot, row);
        slot.mask[row] = 0;
        return fail_row(slot, row, std::move(error), fatal);
      }
      if (place.attempt == most_attempts) return fail_row(slot, row, exhausted(*first, error), true);
      if (place.attempt == 0) {
        first = error;
        fail_row(slot, row, std::move(error), false);
      }
    }
    ++place.attempt;
    try {
      index = data_->replacement(place);
    } catch (...) {  // an order that fails is no matter of one sample
      return fail_row(slot, row, current_error().with_index(index), true);
    }
  }
  if (place.attempt == 0) return;
  const std::lock_guard lock(slot.bad_mutex);
  slot.replaced.push_back({row, index});
}

void Engine::fail_row(Slot& slot, std::uint64_t row, Error error, bool fatal) {
  const std::lock_guard lock(slot.bad_mutex);
  slot.bad.push_back({row, std::move(error), fatal});
}

void Engine::finish_parts(Slot& slot, std::uint32_t parts) noexcept {
  if (!slots_.finish(slot, parts) || !waiting_.load(std::memory_order_seq_cst)) return;
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
    if (advises_) advise();
    const TicketRun tickets = tickets_.take(1);
    if (tickets.count != 0) {
      Slot& slot = slot_of(tickets.first / rows_);
      if (make_samples(*run, slot, tickets)) finish_parts(slot, 1);
    }
    run->reader->pause();
    lock.lock();
    helped_ += tickets.count;
    idle_runs_.push_back(run);
    if (has_work()) wake(lock);  // a runner may have found no reader while this one was used
  }
  --running_;
  busy_ns_ += now_ns();
}

}  // namespace penstock::detail
