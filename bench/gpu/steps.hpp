// SPDX-License-Identifier: Apache-2.0
// The steps of the proof. Each step has a file of its own.
#pragma once

#include <filesystem>

#include "gpu_results.hpp"

namespace penstock::gpu_bench {

struct Settings {
  bool quick = false;
  std::filesystem::path out;
  int rounds() const { return quick ? 2 : 5; }
};

void environment(Results& results, const Settings& settings);
void transfers(Results& results, const Settings& settings);
void calls(Results& results, const Settings& settings);
void overlap(Results& results, const Settings& settings);
void negative_controls(Results& results, const Settings& settings);
void timeline(Results& results, const Settings& settings);
void stages(Results& results, const Settings& settings);
void jpeg_epochs(Results& results, const Settings& settings);
void stability(Results& results, const Settings& settings);
void sabotage(Results& results, const Settings& settings);
void verdicts(Results& results, const Settings& settings);

// The main function of a child process, in which a kernel traps while a loader runs. Returns the exit code.
int trap_child();
constexpr int clean_exit = 7;

}  // namespace penstock::gpu_bench
