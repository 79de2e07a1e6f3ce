// SPDX-License-Identifier: Apache-2.0
// When the GPU really did its work: when copies and kernels began and ended, as CUPTI reports it. The program loads
// CUPTI when it runs, if the machine has it.
#pragma once

#include <string>
#include <vector>

namespace penstock::gpu_bench {

struct Interval {
  double begin, end;  // seconds
};

// Merges intervals that overlap or are at most `gap` seconds apart. Returns the intervals in order.
std::vector<Interval> merged(std::vector<Interval> all, double gap);

struct Activity {
  std::vector<Interval> copies;  // from the host to the GPU, in order
  std::vector<Interval> kernels;
};

// Records activity from its construction to `finish`. REQUIRES: the GPU has no work at both moments.
class ActivityRecorder {
 public:
  ActivityRecorder();
  ActivityRecorder(const ActivityRecorder&) = delete;
  ActivityRecorder& operator=(const ActivityRecorder&) = delete;
  ~ActivityRecorder();
  // Returns why nothing is recorded; empty if activity is recorded.
  const std::string& why_not() const noexcept { return why_not_; }
  // Ends the recording and returns what was recorded.
  Activity finish();

 private:
  std::string why_not_;
  bool records_ = false;
};

}  // namespace penstock::gpu_bench
