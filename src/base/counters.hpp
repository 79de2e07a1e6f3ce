// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/resource.h>
#include <time.h>

#include <atomic>
#include <cstdint>
#include <utility>

namespace penstock::detail {

/// A number that one thread changes and any thread may read.
class RelaxedCounter {
 public:
  RelaxedCounter() = default;
  RelaxedCounter(RelaxedCounter&& other) noexcept : value_(other.get()) {}
  void add(std::uint64_t n) noexcept {
    value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
  void set(std::uint64_t n) noexcept { value_.store(n, std::memory_order_relaxed); }
  std::uint64_t get() const noexcept { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

/// The latest remark of a decoder, and the number of images on which any remark was made.
class Remarks {
 public:
  Remarks() = default;
  Remarks(Remarks&& other) noexcept : count_(std::move(other.count_)), text_(other.text()) {}
  /// `text` must live as long as the program.
  void add(const char* text, std::uint64_t images) noexcept {
    text_.store(text, std::memory_order_relaxed);
    count_.add(images);
  }
  void move_to(Remarks& other) noexcept {
    if (count() == 0) return;
    other.add(text(), count());
    count_.set(0);
  }
  std::uint64_t count() const noexcept { return count_.get(); }
  const char* text() const noexcept { return text_.load(std::memory_order_relaxed); }

 private:
  RelaxedCounter count_;
  std::atomic<const char*> text_{nullptr};
};

/// What one step did in one runner. In this file, a chain is the work of all steps on one sample or record. `remarks`
/// covers all chains. The other members cover only measured chains: each value is multiplied by the number of chains
/// that its chain stands for.
struct StepCounters {
  RelaxedCounter cpu_ns, bytes;
  RelaxedCounter wait_ns;  ///< time off the core in which the thread waited, as `WaitWatch` tells
  Remarks remarks;
};

/// Counters of all chains of one runner.
struct ChainCounters {
  RelaxedCounter samples, copied_bytes, scratch_bytes;
  RelaxedCounter made;      ///< samples that were made, not taken from a cache
  RelaxedCounter measured;  ///< chains that were measured
  /// How many chains the measured chains stand for, and the wall time of that many chains.
  RelaxedCounter stood_for, wall_ns;
};

/// Returns how many chains this chain stands for if it is measured; 0 if it is not. A runner's first 16 chains are
/// measured, so that short runs have numbers too. These chains are slow, so each stands only for itself. After them,
/// one ticket in 64 is measured. The measured tickets are scattered, so that no row of a batch is preferred. If a
/// sample takes less than 2 µs, reading the clocks takes a tenth of that time or more. Then only one ticket in 512 is
/// measured.
inline std::uint64_t measures(std::uint64_t ticket, std::uint64_t measured_so_far, std::uint64_t sample_ns) noexcept {
  if (measured_so_far < 16) return 1;
  const std::uint64_t spread = (ticket * 0x9e3779b97f4a7c15ull) >> 55;
  if (sample_ns < 2000) return spread == 0 ? 512 : 0;
  return (spread & 63) == 0 ? 64 : 0;
}

/// Returns how many loads of blocks this load stands for if a runner measures it; 0 if it does not. Asking the clocks
/// and the kernel takes about 10 µs, and a load may take no longer than that. So only one load in 16 is measured.
/// Exceptions: the first 16 loads are measured, and every load if the last measured load took 1 ms or more.
inline std::uint64_t measures_load(std::uint64_t load, std::uint64_t load_ns) noexcept {
  if (load < 16 || load_ns >= 1'000'000) return 1;
  return (load * 0x9e3779b97f4a7c15ull) >> 60 == 0 ? 16 : 0;
}

/// Returns how often this thread gave up its core voluntarily or waited for a page. A thread that waits for data
/// changes this number; a thread that waits for a core does not.
inline std::uint64_t times_blocked() noexcept {
  rusage usage{};
  ::getrusage(RUSAGE_THREAD, &usage);
  return static_cast<std::uint64_t>(usage.ru_nvcsw + usage.ru_majflt);
}

struct Clocks {
  std::uint64_t cpu_ns, wall_ns;
};
inline Clocks read_clocks() noexcept {
  timespec cpu{}, wall{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
  ::clock_gettime(CLOCK_MONOTONIC, &wall);
  const auto ns = [](const timespec& t) {
    return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(t.tv_nsec);
  };
  return {ns(cpu), ns(wall)};
}

}  // namespace penstock::detail
