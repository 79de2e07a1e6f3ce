// SPDX-License-Identifier: Apache-2.0
// This program run once more, for what ends the GPU's use in its process.
#pragma once

#include <string>

namespace penstock::gpu_bench {

struct ChildEnd {
  int exit_code = -1;  // -1: it did not exit by itself
  std::string words;   // how it ended
  std::string said;    // its last line on stdout
};

// `gpu --child NAME`; killed after `seconds`. @throws std::runtime_error when it can't be started.
ChildEnd run_child(const std::string& name, int seconds);

}  // namespace penstock::gpu_bench
