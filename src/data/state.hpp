// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <penstock/state.hpp>

namespace penstock::detail {

/// Returns the checksum of every field except `check`.
std::uint32_t state_checksum(const State& state) noexcept;
/// Checks a state. @throws Error(state_mismatch) if it is damaged or has an unknown version.
void check_state(const State& state);

/// Writes the file of `save_state`, with a text after the state, as `PipelineFacts::text` returns it.
void save_state(const State& state, std::string_view text, const std::string& file);
/// Reads a state. `text`, unless it is null, gets what comes after the state in the file.
State load_state(const std::string& file, std::string* text);

}  // namespace penstock::detail
