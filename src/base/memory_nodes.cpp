// SPDX-License-Identifier: Apache-2.0
#include "base/memory_nodes.hpp"

#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <fstream>
#include <string>

namespace penstock::detail {

bool names_several(std::string_view list) noexcept { return list.find_first_of(",-") != std::string_view::npos; }

bool has_several_memory_nodes() noexcept {
  static const bool several = [] {
    try {
      std::ifstream file("/sys/devices/system/node/has_memory");
      std::string list;
      std::getline(file, list);
      return names_several(list);
    } catch (...) {
      return false;
    }
  }();
  return several;
}

// Calls the kernel directly, because libnuma would be needed for this one call only.
bool prefer_memory_node(void* data, std::size_t bytes, int node) noexcept {
  constexpr std::size_t word_bits = sizeof(unsigned long) * CHAR_BIT;
  std::array<unsigned long, 1024 / word_bits> mask = {};
  const auto bit = static_cast<std::size_t>(node);
  if (node < 0 || bit / word_bits >= mask.size()) return false;
  mask[bit / word_bits] = 1UL << bit % word_bits;
  return ::syscall(SYS_mbind, data, bytes, MPOL_PREFERRED, mask.data(), mask.size() * word_bits, 0) == 0;
}

}  // namespace penstock::detail
