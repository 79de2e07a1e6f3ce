// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

namespace penstock::detail::runtime {

/// Consecutive tickets of one batch. If `count` is 0, there are no tickets.
struct TicketRun {
  std::uint64_t first = 0, count = 0;
};

/// Limits on how many tickets a runner takes together. A runner takes several if samples are so short that taking
/// tickets costs much of the time. The limits are low, so that a run still stops promptly, and runners still share the
/// work evenly.
inline constexpr std::uint64_t ns_at_once = 80'000, max_at_once = 16;
inline std::uint64_t tickets_at_once(std::uint64_t sample_ns, std::uint64_t most = max_at_once) noexcept {
  return sample_ns == 0 ? 1 : std::clamp<std::uint64_t>(ns_at_once / sample_ns, 1, most);
}

/// Numbers the samples to be made, in order. Runners take tickets below a limit. The code that makes room for samples
/// raises the limit, which is the only back-pressure. Any thread may call each function except `reset`.
class Tickets {
 public:
  /// `rows`: tickets of one batch. In a reordered pipeline, all entries count as one batch. `takers`: the largest
  /// number of threads that take tickets at the same time.
  explicit Tickets(std::uint64_t rows, std::uint64_t takers = 1) : rows_(rows) {
    returned_.reserve(static_cast<std::size_t>(takers));
  }

  /// Takes the next tickets: at most `most`, all of one batch. Takes at most 1/`shares` of the tickets that are left,
  /// but at least one ticket, so that other runners get tickets too.
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
  /// Gives back tickets whose samples were not begun, because samples take longer than expected. Runners take returned
  /// tickets one at a time. Returns false if there is no room for the tickets, so that the caller keeps them.
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
  /// Starts again with the first ticket and limit 0. Call only while no runner runs.
  void reset() noexcept { reset(rows_); }
  /// Like `reset()`, and sets `rows` rows per batch.
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
  // Relaxed, because the mutex publishes the returned tickets.
  std::atomic<std::uint64_t> returned_runs_{0};
  std::mutex mutex_;
  std::vector<TicketRun> returned_;
  // `next_` is accessed relaxed, because it only gives out each number once. `limit_` publishes the data of a number,
  // because a runner takes a number only after it saw a higher limit.
  alignas(64) std::atomic<std::uint64_t> next_{0};
  alignas(64) std::atomic<std::uint64_t> limit_{0};
};

}  // namespace penstock::detail::runtime
