// SPDX-License-Identifier: Apache-2.0
#include "data/state.hpp"

#include <cstddef>
#include <string>

#include <penstock/error.hpp>

#include "base/hash.hpp"

namespace penstock::detail {

std::uint32_t state_checksum(const State& state) noexcept {
  return static_cast<std::uint32_t>(hash_bytes(&state, offsetof(State, check), 0x70656e73746f636b));
}

void check_state(const State& state) {
  if (state.check != state_checksum(state))
    throw Error(Errc::state_mismatch, state.version == State::current_version
                                          ? "the saved state is damaged: its checksum differs"
                                          : "the saved state is damaged, or of version " +
                                                std::to_string(state.version) + "; this library reads " +
                                                std::to_string(State::current_version));
  if (state.version != State::current_version)
    throw Error(Errc::state_mismatch, "the saved state has version " + std::to_string(state.version) +
                                          "; this library reads " + std::to_string(State::current_version) +
                                          "; load it with the penstock that saved it, or begin again");
}

}  // namespace penstock::detail
