// SPDX-License-Identifier: Apache-2.0
#include "guarded_memory.hpp"

#include <algorithm>
#include <cstring>

namespace penstock::testing {

namespace {
constexpr std::byte guard_value{0xc3};
}

GuardedMemory::GuardedMemory(std::size_t bytes, std::byte content)
    : bytes_(bytes), memory_(static_cast<std::byte*>(::operator new(bytes + 2 * guard, std::align_val_t(guard)))) {
  std::memset(memory_.get(), std::to_integer<int>(guard_value), bytes + 2 * guard);
  std::memset(data(), std::to_integer<int>(content), bytes);
}

bool GuardedMemory::intact() const noexcept {
  const auto is_guard = [](std::byte b) { return b == guard_value; };
  const std::byte* begin = memory_.get();
  const std::byte* after = data() + bytes_;
  return std::all_of(begin, begin + guard, is_guard) && std::all_of(after, after + guard, is_guard);
}

}  // namespace penstock::testing
