// SPDX-License-Identifier: Apache-2.0
#include "bench/free_memory.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <optional>
#include <string>

namespace penstock::cli {

namespace {

std::optional<std::uint64_t> number_in(const char* path) {
  std::ifstream file(path);
  std::uint64_t value = 0;
  return file >> value ? std::optional(value) : std::nullopt;  // the file has "max" if there is no limit
}

}  // namespace

std::uint64_t free_memory() {
  std::uint64_t available = 0;
  std::ifstream file("/proc/meminfo");
  for (std::string line; std::getline(file, line);) {
    unsigned long long kib = 0;
    if (std::sscanf(line.c_str(), "MemAvailable: %llu kB", &kib) == 1) available = kib << 10;
  }
  const auto limit = number_in("/sys/fs/cgroup/memory.max"), used = number_in("/sys/fs/cgroup/memory.current");
  if (!limit || !used) return available;
  const std::uint64_t left = *limit - std::min(*limit, *used);
  return available == 0 ? left : std::min(available, left);
}

}  // namespace penstock::cli
