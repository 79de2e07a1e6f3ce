// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace penstock::detail {

/// Alignment in bytes of everything that follows something else in the engine's memory: a cache line. Kernels rely on
/// it too.
inline constexpr std::size_t alignment = 64;

constexpr std::size_t aligned(std::size_t bytes) noexcept { return (bytes + alignment - 1) / alignment * alignment; }

}  // namespace penstock::detail
