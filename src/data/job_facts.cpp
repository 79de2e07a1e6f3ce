// SPDX-License-Identifier: Apache-2.0
#include "data/job_facts.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <penstock/extend/system_error.hpp>

namespace penstock {

namespace {

std::uint8_t digit_of(char c) noexcept {
  return static_cast<std::uint8_t>(c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : 16);
}

// Reverses `escaped`, which stores apply to the facts that they keep. Makes the result printable.
std::string unescaped(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const bool whole = text.substr(at).starts_with("\\x") && text.size() - at >= 4;
    const unsigned high = whole ? digit_of(text[at + 2]) : 16, low = whole ? digit_of(text[at + 3]) : 16;
    const bool is_byte = high < 16 && low < 16;
    out += is_byte ? static_cast<char>(16 * high + low) : text[at];
    at += is_byte ? 4 : 1;
  }
  return without_controls(out);
}

std::string quoted(const JobFact& fact) { return unescaped(fact.name) + " \"" + unescaped(fact.words) + "\""; }

}  // namespace

std::string job_difference(std::span<const JobFact> there, std::span<const JobFact> here) {
  const auto comes = [](std::span<const JobFact> facts, const JobFact& fact) {
    return std::ranges::any_of(facts, [&](const JobFact& other) { return other.name == fact.name; });
  };
  constexpr std::size_t most = 3;
  std::size_t count = 0;
  std::string out;
  const auto say = [&](const std::string& words) {
    if (++count <= most) out += (count == 1 ? "" : "; ") + words;
  };
  const std::span<const JobFact> all_there = there, all_here = here;
  while (!there.empty() || !here.empty()) {
    // Compares the first fact that is left in `there` with the first fact that is left in `here`. If one list has the
    // name of the other list's fact later, only its own first fact is reported and skipped. The same is done if the
    // other list has no facts left. Otherwise both facts are skipped, and reported if they differ.
    const bool same_name = !there.empty() && !here.empty() && there.front().name == here.front().name;
    const bool no_there = there.empty() || (!here.empty() && !same_name && comes(here, there.front()));
    const bool no_here = here.empty() || (!no_there && !same_name && comes(there, here.front()));
    if (no_there)
      say("here is the " + quoted(here.front()) +
          (comes(all_there, here.front()) ? ", which comes in another place there" : ", which is not there"));
    else if (no_here)
      say("there is the " + quoted(there.front()) +
          (comes(all_here, there.front()) ? ", which comes in another place here" : ", which is not here"));
    else if (!same_name)
      say("there is the " + quoted(there.front()) + " where here is the " + quoted(here.front()));
    else if (there.front() != here.front())
      say(unescaped(there.front().name) + ": there \"" + unescaped(there.front().words) + "\", here \"" +
          unescaped(here.front().words) + "\"");
    if (!no_there) there = there.subspan(1);
    if (!no_here) here = here.subspan(1);
  }
  if (count > most) out += "; and " + std::to_string(count - most) + " more";
  return out;
}

namespace detail {

std::string lines_of(std::span<const JobFact> facts) {
  std::string lines;
  for (const JobFact& fact : facts) lines += fact.name + "\t" + fact.words + "\n";
  return lines;
}

std::vector<JobFact> facts_in(std::string_view lines) {
  std::vector<JobFact> facts;
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(std::min(line.size() + 1, lines.size()));
    const std::size_t tab = std::min(line.find('\t'), line.size());
    facts.push_back({std::string(line.substr(0, tab)), std::string(line.substr(std::min(tab + 1, line.size())))});
  }
  return facts;
}

}  // namespace detail

}  // namespace penstock
