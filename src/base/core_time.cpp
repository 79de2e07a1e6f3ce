// SPDX-License-Identifier: Apache-2.0
#include "base/core_time.hpp"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>

#include "base/clock.hpp"

namespace penstock::detail {

namespace {

std::string contents(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Removes the first line from `text` and returns it.
std::string_view take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

// Removes the next number from `text` and returns it. Returns none if no number comes next.
std::optional<std::uint64_t> take_number(std::string_view& text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\n')) text.remove_prefix(1);
  std::uint64_t number = 0;
  const auto [after, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(after - text.data()));
  return number;
}

double quota_of(std::optional<std::uint64_t> quota_us, std::optional<std::uint64_t> period_us) {
  return quota_us && period_us && *period_us != 0 ? static_cast<double>(*quota_us) / static_cast<double>(*period_us)
                                                  : 0;
}

// Returns how many cores the quota of one control group allows; 0 if the group has no quota. Groups may be of version 1
// or 2.
double quota_in(const std::string& folder) {
  std::string text = contents(folder + "/cpu.max");
  std::string_view rest = text;
  const auto quota = take_number(rest);
  if (quota) return quota_of(quota, take_number(rest));
  text = contents(folder + "/cpu.cfs_quota_us") + " " + contents(folder + "/cpu.cfs_period_us");
  rest = text;
  const auto old_quota = take_number(rest);
  return quota_of(old_quota, take_number(rest));
}

}  // namespace

std::optional<double> parse_busy_seconds(std::string_view stat, const cpu_set_t& set, double ticks_a_second) noexcept {
  double ticks = 0;
  int found = 0;
  while (!stat.empty()) {
    std::string_view line = take_line(stat);
    if (!line.starts_with("cpu") || line.starts_with("cpu ")) continue;
    line.remove_prefix(3);
    const auto number = take_number(line);
    if (!number || *number >= CPU_SETSIZE || !CPU_ISSET(*number, &set)) continue;
    // Time in interrupts is left out, because the kernel does not say for which process an interrupt worked.
    for (int i = 0; i < 3; ++i) {  // user, nice, system
      const auto some = take_number(line);
      if (!some) return std::nullopt;
      ticks += static_cast<double>(*some);
    }
    ++found;
  }
  if (found == 0 || found != CPU_COUNT(&set)) return std::nullopt;
  return ticks / ticks_a_second;
}

std::optional<CoreTime> read_core_time() noexcept try {
  cpu_set_t set;
  CPU_ZERO(&set);
  timespec own{};
  if (::sched_getaffinity(0, sizeof set, &set) != 0 || ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &own) != 0)
    return std::nullopt;
  const std::optional<double> all =
      parse_busy_seconds(contents("/proc/stat"), set, static_cast<double>(::sysconf(_SC_CLK_TCK)));
  if (!all || *all == 0) return std::nullopt;  // in some sandboxes the file has only zeros
  return CoreTime{*all, static_cast<double>(own.tv_sec) + static_cast<double>(own.tv_nsec) * 1e-9, now_ns(),
                  static_cast<unsigned>(CPU_COUNT(&set))};
} catch (...) {
  return std::nullopt;
}

std::optional<CoreShares> core_shares(const CoreTime& from, const CoreTime& to) noexcept {
  constexpr std::uint64_t min_ns = 200'000'000;
  if (to.at < from.at + min_ns || from.cores != to.cores) return std::nullopt;
  const double all = static_cast<double>(to.at - from.at) * 1e-9 * from.cores;
  const double own = std::clamp((to.own_s - from.own_s) / all, 0.0, 1.0);
  return CoreShares{own, std::clamp((to.all_s - from.all_s) / all - own, 0.0, 1 - own)};
}

// Returns the smallest quota of the process's group and of all groups above it. In a container, `groups` may name a
// path that does not exist below `mount`. Then the group at `mount` itself is the process's group.
double core_quota(const std::string& mount, std::string_view groups) {
  double least = 0;
  const auto consider = [&least](const std::string& folder) {
    if (const double quota = quota_in(folder); quota > 0) least = least == 0 ? quota : std::min(least, quota);
  };
  while (!groups.empty()) {
    std::string_view line = take_line(groups);  // number:controllers:path
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == line.npos || second == line.npos) continue;
    const std::string controllers = "," + std::string(line.substr(first + 1, second - first - 1)) + ",";
    const bool unified = controllers == ",,";
    if (!unified && controllers.find(",cpu,") == controllers.npos) continue;
    const std::string base = unified ? mount : mount + "/cpu";
    std::string path(line.substr(second + 1));
    while (path.size() > 1) {
      consider(base + path);
      path.erase(path.rfind('/'));
    }
    consider(base);
  }
  return least;
}

double core_quota() noexcept try { return core_quota("/sys/fs/cgroup", contents("/proc/self/cgroup")); } catch (...) {
  return 0;
}

}  // namespace penstock::detail
