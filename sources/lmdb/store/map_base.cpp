// SPDX-License-Identifier: Apache-2.0
#include "store/map_base.hpp"

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <memory>

namespace penstock::lmdb {

const std::byte* map_base(const void* inside) noexcept {
  const std::unique_ptr<std::FILE, decltype([](std::FILE* f) { std::fclose(f); })> maps(
      std::fopen("/proc/self/maps", "re"));
  if (!maps) return nullptr;
  const auto address = reinterpret_cast<std::uintptr_t>(inside);
  char line[512];
  bool at_line_start = true;
  while (std::fgets(line, sizeof(line), maps.get()) != nullptr) {
    std::uintptr_t begin = 0, end = 0, offset = 0;
    const bool whole = at_line_start;
    at_line_start = false;
    for (const char* c = line; *c != '\0'; ++c) at_line_start = *c == '\n';
    if (!whole) continue;
    if (std::sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %*s %" SCNxPTR, &begin, &end, &offset) != 3) continue;
    if (address < begin || address >= end) continue;
    return reinterpret_cast<const std::byte*>(begin - offset);
  }
  return nullptr;
}

}  // namespace penstock::lmdb
