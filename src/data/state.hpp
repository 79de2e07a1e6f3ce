#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <penstock/state.hpp>

namespace penstock::detail {

/// Checksum of every field but `check`.
std::uint32_t state_checksum(const State& state) noexcept;
/// @throws Error(state_mismatch) for damage or an unknown version.
void check_state(const State& state);

/// The file of `save_state`, with a text after the state, as `PipelineFacts::text` gives it.
void save_state(const State& state, std::string_view text, const std::string& file);
/// `text`: where it is not null, gets what stands after the state.
State load_state(const std::string& file, std::string* text);

}  // namespace penstock::detail
