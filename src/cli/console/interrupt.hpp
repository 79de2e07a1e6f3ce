// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <stop_token>
#include <thread>

namespace penstock::cli {

/// Turns SIGINT and SIGTERM into a stop request while it lives. A second signal ends the process immediately. If no
/// thread can be started to watch for signals, even the first signal ends the process. Construct it before any other
/// thread is started, because threads inherit the signal mask.
class Interrupt {
 public:
  Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;
  ~Interrupt();

  std::stop_token token() const noexcept { return source_.get_token(); }
  /// Returns the last signal that came, or 0 if none came.
  int signal() const noexcept { return signal_.load(); }

 private:
  void watch(const std::stop_token& ended);
  std::stop_source source_;
  std::atomic<int> signal_{0};
  std::jthread thread_;
};

}  // namespace penstock::cli
