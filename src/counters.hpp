#pragma once

#include <time.h>

#include <atomic>
#include <cstdint>

namespace penstock::detail {

/// A number that one thread changes and any thread reads.
class Tally {
 public:
  Tally() = default;
  Tally(Tally&& other) noexcept : value_(other.get()) {}
  void add(std::uint64_t n) noexcept { value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed); }
  void set(std::uint64_t n) noexcept { value_.store(n, std::memory_order_relaxed); }
  std::uint64_t get() const noexcept { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

/// Of one step in one runner. Filled in measured chains only.
struct StepCounters {
  Tally cpu_ns, wall_ns, bytes;
};

/// Of all chains of one runner.
struct ChainCounters {
  Tally samples, measured, copied_bytes, scratch_bytes;
};

/// Which tickets are measured: one in 64, spread so that no row of a batch is preferred.
inline bool measured_ticket(std::uint64_t ticket) noexcept { return (ticket * 0x9e3779b97f4a7c15ull) >> 58 == 0; }

struct Clocks {
  std::uint64_t cpu_ns, wall_ns;
};
inline Clocks read_clocks() noexcept {
  timespec cpu{}, wall{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
  ::clock_gettime(CLOCK_MONOTONIC, &wall);
  const auto ns = [](const timespec& t) { return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(t.tv_nsec); };
  return {ns(cpu), ns(wall)};
}

}  // namespace penstock::detail
