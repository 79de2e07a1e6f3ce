// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/counters.hpp"
#include "engine/thread_wait.hpp"

namespace penstock::detail::runtime {

/// Samples, from time to time, what busy runners wait for. One thread samples; any thread reads the counts.
class WaitProbe {
 public:
  struct Counts {
    std::array<std::uint64_t, wait_kinds> waits{};
    std::uint64_t looks = 0;
  };

  /// Returns how many threads are to be sampled now.
  std::size_t due(std::uint64_t now) noexcept;
  /// Returns the time until the next sampling.
  std::chrono::nanoseconds until_due(std::uint64_t now) const noexcept;
  void look_at(std::span<const int> threads) noexcept;
  Counts counts() const noexcept;

 private:
  static constexpr std::uint64_t every_ns = 5'000'000;

  std::uint64_t last_ns_ = 0;
  std::array<RelaxedCounter, wait_kinds> waits_;
  RelaxedCounter looks_;
};

}  // namespace penstock::detail::runtime
