// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

namespace penstock::cli {

/// Shows on stderr the progress, the speed and the remaining time of long work: a bar on a terminal, a line every few
/// seconds elsewhere, nothing with --quiet. One thread at a time.
class Progress {
 public:
  Progress(std::string what, std::uint64_t total, bool quiet);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  /// Removes the bar.
  ~Progress();

  /// Sets how much is done. `skipped` is the part of `done` that took no time; the rate does not count it. `set` may be
  /// called often, because it redraws at most ten times per second.
  void set(std::uint64_t done, std::uint64_t skipped = 0);
  /// Sets the function that describes where the work is, for example "slide 3/12". Each drawing calls the function.
  void tell_where(std::function<std::string(std::uint64_t done)> where) { where_ = std::move(where); }

 private:
  void draw(double now);
  using Clock = std::chrono::steady_clock;

  std::string what_;
  std::function<std::string(std::uint64_t)> where_;
  std::uint64_t total_, done_ = 0, skipped_ = 0;
  bool quiet_, terminal_, drawn_ = false;
  Clock::time_point start_ = Clock::now();
  double last_ = 0;
};

}  // namespace penstock::cli
