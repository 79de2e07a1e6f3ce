#include <algorithm>
#include <utility>

#include "engine/engine.hpp"

// What the consumer, and the ring, are for a settled pipeline.
namespace penstock::detail {

Slot* Engine::open_batch() noexcept {
  Slot* slot = nullptr;
  {
    const Lock lock(mutex_);
    slot = slots_.acquire();
    // Under the mutex, as is the release that ends it.
    if (slot == nullptr) settled_->settle().stalled().store(true, std::memory_order_seq_cst);
  }
  if (slot != nullptr)
    slot->arena.reset();
  else
    changed_.notify_all();
  return slot;
}

void Engine::close_batch(Slot& slot) noexcept {
  // Parts that nobody makes: rows that there aren't, and the closing.
  const auto parts = static_cast<std::uint32_t>(1 + rows_ - slot.valid);
  for (std::uint64_t row = slot.valid; row < slot.rows; ++row) slots_.clear_row(slot, row);
  {
    const Lock lock(mutex_);
    const std::uint64_t ordinal = admitted_.load(std::memory_order_relaxed);
    by_ordinal_[ordinal % by_ordinal_.size()] = &slot;
    admitted_.store(ordinal + 1, std::memory_order_release);
  }
  finish_parts(slot, parts);
}

void Engine::discard_batch(Slot& slot) noexcept {
  slot.discarded = true;
  finish_parts(slot, static_cast<std::uint32_t>(1 + rows_ - slot.valid));
}

bool Engine::has_room_for_end() noexcept {
  const Lock lock(mutex_);
  if (ends_.size() < slots_.depth()) return true;
  settled_->settle().stalled().store(true, std::memory_order_seq_cst);
  return false;
}

void Engine::end_epoch(EpochEnd end) noexcept {
  {
    const Lock lock(mutex_);
    ends_.push_back(std::move(end));
  }
  changed_.notify_all();
}

void Engine::wake_runners() noexcept {
  Lock lock(mutex_);
  if (!closed_ && !paused()) wake(lock);
}

void Engine::wake_consumer() noexcept {
  { const Lock lock(mutex_); }
  changed_.notify_all();
}

// Its end is known, and all of its batches are delivered.
bool Engine::epoch_over(std::uint64_t epoch) noexcept {
  if (ends_.empty() || ends_.front().epoch != epoch) return false;
  return delivered_ == admitted_.load(std::memory_order_relaxed) || slot_of(delivered_).epoch != epoch;
}

Slot* Engine::wait_settled(std::uint64_t epoch) {
  Lock lock(mutex_);
  const auto next = [&] {
    return delivered_ != admitted_.load(std::memory_order_relaxed) ? &slot_of(delivered_) : nullptr;
  };
  const auto arrived = [&] {
    const Slot* const slot = next();
    return epoch_over(epoch) ||
           (slot != nullptr && slot->epoch == epoch && slot->state.load(std::memory_order_seq_cst) == SlotState::ready);
  };
  const auto exhausted = [&] {
    return leased_ == slots_.depth() && settled_->settle().stalled().load(std::memory_order_seq_cst);
  };
  // What is skipped is a user's code that says it.
  const auto answer = [&] {
    if (paused() || !settled_->asks()) return false;
    lock.unlock();
    settled_->answer();
    lock.lock();
    if (!paused()) wake(lock);
    return true;
  };
  answer();
  waiting_.store(true, std::memory_order_seq_cst);
  while (!arrived() && !paused() && !failed_ && !exhausted())
    if (!answer()) sleep_or_help(lock, arrived);
  waiting_.store(false, std::memory_order_relaxed);
  if (paused() || epoch_over(epoch)) return nullptr;
  if (arrived()) return next();
  if (failed_) throw *reader_error_;
  throw leases_exhausted();
}

std::optional<EpochEnd> Engine::take_epoch_end(std::uint64_t epoch) {
  Lock lock(mutex_);
  if (stopped() || !epoch_over(epoch)) return std::nullopt;
  EpochEnd end = std::move(ends_.front());
  ends_.erase(ends_.begin());
  admit(lock);  // there is room for another one
  return end;
}

}  // namespace penstock::detail
