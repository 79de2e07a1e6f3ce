#pragma once

#include <cstdint>

namespace penstock::cli {

/// Bytes that this process could take now: what the system has available, or what its control group leaves it, where
/// that is less. 0 where neither is told.
std::uint64_t free_memory();

}  // namespace penstock::cli
