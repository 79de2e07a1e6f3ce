// SPDX-License-Identifier: Apache-2.0
// What a process does with sources, sinks, caches and devices, each from opening to closing.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace penstock_test {

struct MemoryJob {
  std::string name;
  // Makes what `run` reads, in an empty folder.
  std::function<void(const std::string& data)> prepare = {};
  // Reads `data`, writes to `work`, empty or what an earlier run left. What came of it, in a number that is the same
  // each time. @throws penstock::Error.
  std::function<std::uint64_t(const std::string& data, const std::string& work)> run;
  // What stands in a finished store. @throws penstock::Error where there is none. Empty: nothing is written.
  std::function<std::string(const std::string& work)> content = {};
  int runs_to_finish = 1;  // a cache keeps in the next run what it did not in the one before
};

std::vector<MemoryJob> memory_jobs();

}  // namespace penstock_test
