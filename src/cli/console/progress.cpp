// SPDX-License-Identifier: Apache-2.0
#include "console/progress.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include <fmt/format.h>

#include "console/output.hpp"

namespace penstock::cli {

namespace {

bool stderr_is_terminal() {
  const char* const term = std::getenv("TERM");
  return ::isatty(STDERR_FILENO) == 1 && (term == nullptr || std::string_view(term) != "dumb");
}

std::size_t terminal_width() {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

}  // namespace

Progress::Progress(std::string what, std::uint64_t total, bool quiet)
    : what_(std::move(what)), total_(total), quiet_(quiet), terminal_(stderr_is_terminal()) {}

Progress::~Progress() {
  if (drawn_ && terminal_) std::fputs("\r\033[K", stderr);
}

void Progress::set(std::uint64_t done, std::uint64_t skipped) {
  done_ = done;
  skipped_ = skipped;
  if (quiet_) return;
  const double now = std::chrono::duration<double>(Clock::now() - start_).count();
  if (now - last_ < (terminal_ ? 0.1 : 3.0)) return;
  last_ = now;
  draw(now);
}

void Progress::draw(double now) {
  drawn_ = true;
  const double share = total_ == 0 ? 1.0 : std::min(1.0, static_cast<double>(done_) / static_cast<double>(total_));
  const double rate = static_cast<double>(done_ - std::min(skipped_, done_)) / std::max(now, 1e-9);
  const double left = rate > 0 ? static_cast<double>(total_ - std::min(done_, total_)) / rate : -1;
  const std::string numbers = fmt::format(
      "{:3.0f} %  {}{}{}/{}  {}/s  {} left", 100 * share, where_ ? where_(done_) : "", where_ ? "  " : "",
      with_commas(done_), with_commas(total_), with_commas(static_cast<std::uint64_t>(rate)), clock_text(left));
  if (!terminal_) {
    fmt::print(stderr, "{}: {}\n", what_, numbers);
    return;
  }
  const std::size_t width = terminal_width(), taken = what_.size() + numbers.size() + 5;
  std::string bar;
  if (width > taken + 6) {
    const std::size_t cells = std::min<std::size_t>(40, width - taken);
    const auto full = static_cast<std::size_t>(share * static_cast<double>(cells));
    bar = "[" + std::string(full, '#') + std::string(cells - full, '.') + "] ";
  }
  fmt::print(stderr, "\r\033[K{} {}{}", what_, bar, numbers);
  std::fflush(stderr);
}

}  // namespace penstock::cli
