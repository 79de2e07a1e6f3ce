#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

namespace penstock::cli {

/// Tells on stderr how far a long piece of work is, how fast it goes and how long it will take: a bar on a terminal,
/// elsewhere a line every few seconds, nothing when quiet. One thread at a time.
class Progress {
 public:
  Progress(std::string what, std::uint64_t total, bool quiet);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  /// Takes the bar away.
  ~Progress();

  /// `skipped` of them took no time, so they are no part of the rate. Cheap: draws at most ten times a second.
  void set(std::uint64_t done, std::uint64_t skipped = 0);
  /// Tells, each time it is drawn, where the work is: "slide 3/12".
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
