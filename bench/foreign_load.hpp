// SPDX-License-Identifier: Apache-2.0
// Measures what other processes do with the machine's cores.
#pragma once

#include <sys/types.h>

#include <chrono>

namespace penstock::bench {

// Returns CPU seconds. `who`: RUSAGE_SELF or RUSAGE_CHILDREN.
double cpu_seconds(int who);

// As long as this object lives, ForeignLoad counts the time of a running process and its children as this program's
// own. One object at a time. For a server that both sides of a row use.
class CountedAsOwn {
 public:
  explicit CountedAsOwn(pid_t process) noexcept;
  CountedAsOwn(const CountedAsOwn&) = delete;
  CountedAsOwn& operator=(const CountedAsOwn&) = delete;
  ~CountedAsOwn();
};

// How many cores other processes have kept busy since this object was made. This is the time in /proc/stat less the
// time of this process and its finished children.
class ForeignLoad {
 public:
  ForeignLoad();
  double cores() const;

 private:
  double busy_, own_;
  std::chrono::steady_clock::time_point begun_;
};

}  // namespace penstock::bench
