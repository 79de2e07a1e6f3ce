// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace penstock::detail {

/// Values that share a piece of the engine's memory begin at multiples of this many bytes, the size of a cache line.
/// Kernels rely on this alignment too.
inline constexpr std::size_t alignment = 64;

constexpr std::size_t aligned(std::size_t bytes) noexcept { return (bytes + alignment - 1) / alignment * alignment; }

}  // namespace penstock::detail
