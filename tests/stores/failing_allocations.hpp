// SPDX-License-Identifier: Apache-2.0
// The n-th allocation of the process fails.
#pragma once

#include <cstdint>

namespace penstock_test {

// From here on: the n-th call of any `operator new`, on whichever thread, fails, and no other. 0: none, they are
// counted.
void begin_allocations(std::uint64_t n);
// Returns how many there were.
std::uint64_t end_allocations();

}  // namespace penstock_test
