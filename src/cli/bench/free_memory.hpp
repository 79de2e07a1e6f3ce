// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace penstock::cli {

/// Returns the bytes that this process could allocate: the system's available memory, or what the control group has
/// left if that is less. Returns 0 if the system reports neither.
std::uint64_t free_memory();

}  // namespace penstock::cli
