// SPDX-License-Identifier: Apache-2.0
// Shows progress on stderr: a bar if stderr is a terminal, otherwise a line every few seconds.
#pragma once

#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>

class ProgressBar {
 public:
  ProgressBar(std::string what, std::uint64_t total) : what_(std::move(what)), total_(total) {}
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;
  ~ProgressBar() {
    if (terminal_ && drawn_) std::fputs("\r\033[K", stderr);
  }

  void set(std::uint64_t done) {
    const double now = std::chrono::duration<double>(Clock::now() - start_).count();
    if (now - last_ < (terminal_ ? 0.1 : 3.0)) return;
    last_ = now;
    drawn_ = true;
    const double rate = static_cast<double>(done) / now;
    const double left = rate > 0 ? static_cast<double>(total_ - done) / rate : 0;
    const auto cells = static_cast<unsigned>(done * 30 / total_);
    const std::string bar = std::string(cells, '#') + std::string(30 - cells, '.');
    std::fprintf(
        stderr, terminal_ ? "\r\033[K%s [%s] %3.0f %%  %.0f/s  %.0f s left" : "%s [%s] %3.0f %%  %.0f/s  %.0f s left\n",
        what_.c_str(), bar.c_str(), 100.0 * static_cast<double>(done) / static_cast<double>(total_), rate, left);
  }

 private:
  using Clock = std::chrono::steady_clock;
  std::string what_;
  std::uint64_t total_;
  bool terminal_ = ::isatty(STDERR_FILENO) == 1, drawn_ = false;
  Clock::time_point start_ = Clock::now();
  double last_ = 0;
};
