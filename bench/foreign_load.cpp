// SPDX-License-Identifier: Apache-2.0
#include "foreign_load.hpp"

#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string>

namespace penstock::bench {

namespace {

double seconds(const timeval& t) { return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6; }

pid_t counted_as_own = 0;  // 0: none

// Returns the CPU seconds of a running process. 0 if it has ended.
double cpu_seconds_of(const std::string& process) {
  std::ifstream file("/proc/" + process + "/stat");
  std::string line;
  std::getline(file, line);
  const std::size_t name_end = line.rfind(')');  // the name may have spaces
  if (name_end == std::string::npos) return 0;
  std::istringstream words(line.substr(name_end + 1));
  constexpr int words_before_times = 11;
  std::string word;
  for (int i = 0; i < words_before_times; ++i) words >> word;
  double user = 0, system = 0;
  words >> user >> system;
  return (user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

double counted_cpu_seconds() {
  if (counted_as_own == 0) return 0;
  const std::string process = std::to_string(counted_as_own);
  double seconds = cpu_seconds_of(process);
  std::ifstream children("/proc/" + process + "/task/" + process + "/children");
  for (std::string child; children >> child;) seconds += cpu_seconds_of(child);
  return seconds;
}

double own_cpu_seconds() { return cpu_seconds(RUSAGE_SELF) + cpu_seconds(RUSAGE_CHILDREN) + counted_cpu_seconds(); }

// Returns how many seconds all cores together have been busy since the machine started. Time that a hypervisor took
// away counts as busy.
double busy_seconds() {
  std::ifstream file("/proc/stat");
  std::string line, word;
  std::getline(file, line);
  std::istringstream words(line);
  words >> word;
  double ticks = 0;
  for (int i = 0; i < 8; ++i) {
    double value = 0;
    words >> value;
    const bool idle = i == 3 || i == 4;  // idle, iowait
    if (!idle) ticks += value;
  }
  return ticks / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

}  // namespace

double cpu_seconds(int who) {
  rusage usage{};
  ::getrusage(who, &usage);
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

CountedAsOwn::CountedAsOwn(pid_t process) noexcept { counted_as_own = process; }
CountedAsOwn::~CountedAsOwn() { counted_as_own = 0; }

ForeignLoad::ForeignLoad() : busy_(busy_seconds()), own_(own_cpu_seconds()), begun_(std::chrono::steady_clock::now()) {}
double ForeignLoad::cores() const {
  const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun_).count();
  return ((busy_seconds() - busy_) - (own_cpu_seconds() - own_)) / wall;
}

}  // namespace penstock::bench
