// SPDX-License-Identifier: Apache-2.0
// What others than this process do with the machine's cores.
#pragma once

#include <chrono>

namespace penstock::bench {

// CPU seconds of RUSAGE_SELF or RUSAGE_CHILDREN.
double cpu_seconds(int who);

// Cores that others kept busy since it was made, from /proc/stat less what this process and its finished children used.
class ForeignLoad {
 public:
  ForeignLoad();
  double cores() const;

 private:
  double busy_, own_;
  std::chrono::steady_clock::time_point begun_;
};

}  // namespace penstock::bench
