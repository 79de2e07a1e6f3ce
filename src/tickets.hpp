#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

namespace penstock::detail {

/// Numbers the samples to be made, in order: a runner takes one, whoever admits batches raises the limit. That limit is all
/// the back-pressure there is. Any thread, but for `reset`.
class Tickets {
 public:
  std::optional<std::uint64_t> take() noexcept {
    std::uint64_t ticket = next_.load(std::memory_order_relaxed);
    // Acquire pairs with raise(): who sees the limit sees the slots behind it.
    while (ticket < limit_.load(std::memory_order_acquire))
      if (next_.compare_exchange_weak(ticket, ticket + 1, std::memory_order_relaxed)) return ticket;
    return std::nullopt;
  }
  bool available() const noexcept { return next_.load(std::memory_order_relaxed) < limit_.load(std::memory_order_acquire); }
  void raise(std::uint64_t limit) noexcept { limit_.store(limit, std::memory_order_release); }
  /// Only while no runner runs.
  void reset() noexcept {
    limit_.store(0, std::memory_order_relaxed);
    next_.store(0, std::memory_order_relaxed);
  }

 private:
  alignas(64) std::atomic<std::uint64_t> next_{0};
  alignas(64) std::atomic<std::uint64_t> limit_{0};
};

}  // namespace penstock::detail
