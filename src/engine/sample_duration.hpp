#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace penstock::detail::runtime {

/// Whether samples are so short that to fall asleep and be woken costs as much as a batch of them, and wait for
/// nothing.
class SampleDuration {
 public:
  /// Those are short that take less than `short_time`, as a mean, on so many cores.
  SampleDuration(std::chrono::nanoseconds short_time, unsigned cores) noexcept
      : short_ns_(static_cast<std::uint64_t>(short_time.count())), cores_(cores) {}

  // -- any thread --
  bool is_short() const noexcept { return short_.load(std::memory_order_relaxed); }
  /// Whether it is time for a `look`.
  bool is_due(std::uint64_t now) const noexcept {
    return now - looked_ns_.load(std::memory_order_relaxed) >= look_every_ns;
  }
  /// Samples waited for something.
  void note_wait(std::uint64_t now) noexcept { waited_ns_.store(now, std::memory_order_relaxed); }

  /// At samples that were made so far, and the time that this took all of `at_once` runners. `now` is read under the
  /// mutex, after all times that are in `busy_ns`. Under the mutex.
  void look(std::uint64_t now, std::uint64_t busy_ns, std::uint64_t samples, std::uint64_t at_once) noexcept;

 private:
  static constexpr std::uint64_t look_every_ns = 2'000'000;

  const std::uint64_t short_ns_;
  const unsigned cores_;
  std::atomic<bool> short_{false};
  std::atomic<std::uint64_t> looked_ns_{0};
  std::uint64_t looked_busy_ns_ = 0, looked_samples_ = 0;
  std::atomic<std::uint64_t> waited_ns_{0};  ///< when samples were last seen to wait; 0: never
};

}  // namespace penstock::detail::runtime
