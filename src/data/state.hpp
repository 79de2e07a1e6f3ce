// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <penstock/state.hpp>

namespace penstock::detail {

/// Returns the checksum of the whole state except `check`.
std::uint32_t state_checksum(const State& state) noexcept;
/// Checks a state. @throws Error(state_mismatch) if it is damaged or has an unknown version.
void check_state(const State& state);

/// Writes `state` to `file`, and after it `text`, which `PipelineFacts::text` returned.
void save_state(const State& state, std::string_view text, const std::string& file);
/// Reads a state from `file`. If `text` is not null, sets it to what follows the state in the file.
State load_state(const std::string& file, std::string* text);

}  // namespace penstock::detail
