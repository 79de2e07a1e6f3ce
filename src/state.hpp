#pragma once

#include <cstdint>

#include <penstock/place.hpp>

namespace penstock::detail {

/// Checksum of every field but `check`.
std::uint32_t state_checksum(const State& state) noexcept;
/// @throws Error(state_mismatch) for damage or an unknown version.
void check_state(const State& state);

}  // namespace penstock::detail
