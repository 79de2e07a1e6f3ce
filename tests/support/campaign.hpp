// SPDX-License-Identifier: Apache-2.0
// How a campaign makes random tests longer, and starts them elsewhere.
#pragma once

#include <cstdint>
#include <cstdlib>

#include "core/help.hpp"

namespace penstock_test {

// So many, times PENSTOCK_RUNS where that is set, and fewer under sanitizers.
inline std::uint64_t runs(std::uint64_t usual) {
  const char* const times = std::getenv("PENSTOCK_RUNS");
  return times != nullptr ? usual * std::strtoull(times, nullptr, 10) : help::scaled(usual);
}

// `usual`, or one made of it and PENSTOCK_SEED where that is set.
inline std::uint64_t numbered_seed(std::uint64_t usual) {
  const char* const given = std::getenv("PENSTOCK_SEED");
  return given != nullptr ? help::mix(usual + 1000 * std::strtoull(given, nullptr, 10)) : usual;
}

}  // namespace penstock_test
