// SPDX-License-Identifier: Apache-2.0
// Starts this program again, for steps that make the GPU unusable for their process.
#pragma once

#include <string>

namespace penstock::gpu_bench {

struct ChildEnd {
  int exit_code = -1;  // -1 if the child did not exit by itself
  std::string words;   // how the child ended
  std::string said;    // the child's last line on stdout
};

// Runs `gpu --child NAME`, and kills it after `seconds`. @throws std::runtime_error if it can't be started.
ChildEnd run_child(const std::string& name, int seconds);

}  // namespace penstock::gpu_bench
