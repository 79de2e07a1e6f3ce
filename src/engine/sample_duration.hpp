// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace penstock::detail::runtime {

/// Measures whether samples wait for nothing and are short. Waking a thread costs about as much as making a batch of
/// short samples.
class SampleDuration {
 public:
  /// Samples are short if they take less than `short_time` on average, on `cores` cores.
  SampleDuration(std::chrono::nanoseconds short_time, unsigned cores) noexcept
      : short_ns_(static_cast<std::uint64_t>(short_time.count())), cores_(cores) {}

  // -- any thread --
  bool is_short() const noexcept { return short_.load(std::memory_order_relaxed); }
  /// Returns whether `look` should be called.
  bool is_due(std::uint64_t now) const noexcept {
    return now - looked_ns_.load(std::memory_order_relaxed) >= look_every_ns;
  }
  /// Notes that samples waited for something.
  void note_wait(std::uint64_t now) noexcept { waited_ns_.store(now, std::memory_order_relaxed); }

  /// Decides whether samples are short. `samples`: number of samples made so far. `busy_ns`: the time that they took,
  /// summed over `at_once` runners. `now`: read under the mutex, after all times in `busy_ns`. Call under the mutex.
  void look(std::uint64_t now, std::uint64_t busy_ns, std::uint64_t samples, std::uint64_t at_once) noexcept;

 private:
  static constexpr std::uint64_t look_every_ns = 2'000'000;

  const std::uint64_t short_ns_;
  const unsigned cores_;
  std::atomic<bool> short_{false};
  std::atomic<std::uint64_t> looked_ns_{0};
  std::uint64_t looked_busy_ns_ = 0, looked_samples_ = 0;
  std::atomic<std::uint64_t> waited_ns_{0};  ///< when samples were last seen waiting; 0: never
};

}  // namespace penstock::detail::runtime
