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

/// Counts what busy runners wait for, by looking at their threads from time to time. One thread looks; any thread may
/// read the counts.
class WaitProbe {
 public:
  struct Counts {
    std::array<std::uint64_t, wait_kinds> waits{};
    std::uint64_t looks = 0;
  };

  /// Returns at how many threads the caller must look now.
  std::size_t due(std::uint64_t now) noexcept;
  /// Returns the time until `due` returns more than 0.
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
