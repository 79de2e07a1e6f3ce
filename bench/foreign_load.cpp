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

double own_cpu_seconds() { return cpu_seconds(RUSAGE_SELF) + cpu_seconds(RUSAGE_CHILDREN); }

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

ForeignLoad::ForeignLoad() : busy_(busy_seconds()), own_(own_cpu_seconds()), begun_(std::chrono::steady_clock::now()) {}
double ForeignLoad::cores() const {
  const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun_).count();
  return ((busy_seconds() - busy_) - (own_cpu_seconds() - own_)) / wall;
}

}  // namespace penstock::bench
