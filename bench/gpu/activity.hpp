// SPDX-License-Identifier: Apache-2.0
// When the GPU really did what: copies and kernels with their begin and end, as CUPTI tells them. It is opened when the
// program runs, where the machine has it.
#pragma once

#include <string>
#include <vector>

namespace penstock::gpu_bench {

struct Interval {
  double begin, end;  // seconds
};

// Those that overlap, or have at most `gap` seconds between them, are one. In order.
std::vector<Interval> merged(std::vector<Interval> all, double gap);

struct Activity {
  std::vector<Interval> copies;  // from the host to the GPU, in order
  std::vector<Interval> kernels;
};

// Records from when it is made; the GPU has nothing to do then, nor when it is finished.
class ActivityRecorder {
 public:
  ActivityRecorder();
  ActivityRecorder(const ActivityRecorder&) = delete;
  ActivityRecorder& operator=(const ActivityRecorder&) = delete;
  ~ActivityRecorder();
  // Why nothing is recorded; empty: it is.
  const std::string& why_not() const noexcept { return why_not_; }
  // Ends it.
  Activity finish();

 private:
  std::string why_not_;
  bool records_ = false;
};

}  // namespace penstock::gpu_bench
