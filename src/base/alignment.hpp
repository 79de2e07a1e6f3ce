#pragma once

#include <cstddef>

namespace penstock::detail {

/// Alignment of everything that lies after something else in the engine's memory, in bytes: a cache line, which kernels
/// rely on too.
inline constexpr std::size_t alignment = 64;

constexpr std::size_t aligned(std::size_t bytes) noexcept { return (bytes + alignment - 1) / alignment * alignment; }

}  // namespace penstock::detail
