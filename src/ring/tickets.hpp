#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

namespace penstock::detail::runtime {

/// Consecutive tickets of one batch; none where `count` is 0.
struct TicketRun {
  std::uint64_t first = 0, count = 0;
};

/// Tickets are taken several at once where samples are so short that taking them is what costs. Together they last so
/// short a time that order, stopping and sharing stay as prompt as with one. `sample_ns`: 0 = not known.
inline constexpr std::uint64_t ns_at_once = 80'000, max_at_once = 16;
inline std::uint64_t tickets_at_once(std::uint64_t sample_ns, std::uint64_t most = max_at_once) noexcept {
  return sample_ns == 0 ? 1 : std::clamp<std::uint64_t>(ns_at_once / sample_ns, 1, most);
}

/// Numbers the samples to be made, in order: a runner takes some, whoever admits batches raises the limit. That limit
/// is all the back-pressure there is. Any thread, but for `reset`.
class Tickets {
 public:
  /// `takers`: at most so many threads take.
  explicit Tickets(std::uint64_t rows, std::uint64_t takers = 1) : rows_(rows) {
    returned_.reserve(static_cast<std::size_t>(takers));
  }

  /// The next tickets, at most `most`, never of two batches, and where more than one, at most one of so many equal
  /// `shares` of those there are: the others find some too.
  TicketRun take(std::uint64_t most, std::uint64_t shares = 2) noexcept {
    if (returned_runs_.load(std::memory_order_relaxed) != 0) [[unlikely]]
      if (const TicketRun one = take_returned(); one.count != 0) return one;
    std::uint64_t first = next_.load(std::memory_order_relaxed);
    for (;;) {
      // Acquire pairs with raise(): a runner that sees the limit sees the buffers of its tickets.
      const std::uint64_t limit = limit_.load(std::memory_order_acquire);
      if (first >= limit) return {};
      const std::uint64_t share = std::max<std::uint64_t>((limit - first) / shares, 1);
      const std::uint64_t count = most == 1 ? 1 : std::min({most, rows_ - first % rows_, share});
      if (next_.compare_exchange_weak(first, first + count, std::memory_order_relaxed)) return {first, count};
    }
  }
  /// Gives back tickets of a run that are not begun: their samples take longer than was thought, so others take them,
  /// one at a time. False: there is no room, and they stay whose they are.
  bool give_back(TicketRun tickets) noexcept {
    const std::lock_guard lock(mutex_);
    if (returned_.size() == returned_.capacity()) return false;
    returned_.push_back(tickets);
    returned_runs_.store(returned_.size(), std::memory_order_relaxed);
    return true;
  }
  bool available() const noexcept {
    return next_.load(std::memory_order_relaxed) < limit_.load(std::memory_order_acquire) ||
           returned_runs_.load(std::memory_order_relaxed) != 0;
  }
  void raise(std::uint64_t limit) noexcept { limit_.store(limit, std::memory_order_release); }
  /// Goes back to the beginning. Only while no runner runs.
  void reset() noexcept { reset(rows_); }
  /// The same, with so many rows a batch.
  void reset(std::uint64_t rows) noexcept {
    rows_ = rows;
    limit_.store(0, std::memory_order_relaxed);
    next_.store(0, std::memory_order_relaxed);
    returned_.clear();
    returned_runs_.store(0, std::memory_order_relaxed);
  }

 private:
  TicketRun take_returned() noexcept {
    const std::lock_guard lock(mutex_);
    if (returned_.empty()) return {};
    TicketRun& run = returned_.back();
    const TicketRun one{run.first, 1};
    ++run.first;
    if (--run.count == 0) returned_.pop_back();
    returned_runs_.store(returned_.size(), std::memory_order_relaxed);
    return one;
  }

  std::uint64_t rows_;
  // Relaxed, as `next_`: the mutex publishes them.
  std::atomic<std::uint64_t> returned_runs_{0};
  std::mutex mutex_;
  std::vector<TicketRun> returned_;
  // Relaxed: it gives out numbers, each once, and orders nothing. What stands after a number is published by the
  // limit, which whoever takes the number has seen above it.
  alignas(64) std::atomic<std::uint64_t> next_{0};
  alignas(64) std::atomic<std::uint64_t> limit_{0};
};

}  // namespace penstock::detail::runtime
