// SPDX-License-Identifier: Apache-2.0
#include <penstock/state.hpp>

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include <penstock/error.hpp>
#include <penstock/extend/store_files.hpp>
#include <penstock/extend/system_error.hpp>

#include "data/state.hpp"
#include "pipeline/pipeline_facts.hpp"

namespace penstock {

void detail::save_state(const State& state, std::string_view text, const std::string& file) {
  std::string bytes(reinterpret_cast<const char*>(&state), sizeof state);
  replace_text(file, bytes.append(text), true, "state", ".tmp." + std::to_string(::getpid()));
}

State detail::load_state(const std::string& file, std::string* text) {
  // The largest file that is read, in bytes. A state with the text after it is far smaller.
  constexpr std::uint64_t most = std::uint64_t{16} << 20;
  const std::optional<std::string> there = read_text(file, "state", most);
  if (!there) throw system_error("state", ENOENT, "opening", file);
  const std::string& bytes = *there;
  const std::string_view after = std::string_view(bytes).substr(std::min(bytes.size(), sizeof(State)));
  if (bytes.size() < sizeof(State) || (!after.empty() && !after.starts_with(facts_begin)))
    throw Error(Errc::state_mismatch,
                "a state has 64 bytes, and after them nothing or a pipeline in words; this file has " +
                    std::to_string(bytes.size()) + " bytes; go on from an earlier one, or begin anew")
        .with_file(file);
  State state;
  std::memcpy(&state, bytes.data(), sizeof state);
  if (text != nullptr) *text = after;
  try {
    detail::check_state(state);
  } catch (Error& error) {
    throw error.with_file(file);
  }
  return state;
}

void save_state(const State& state, const std::string& file) { detail::save_state(state, {}, file); }

State load_state(const std::string& file) { return detail::load_state(file, nullptr); }

}  // namespace penstock
