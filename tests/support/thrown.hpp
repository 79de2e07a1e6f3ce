// SPDX-License-Identifier: Apache-2.0
// What a call throws.
#pragma once

#include <stdexcept>
#include <string_view>

#include <penstock/error.hpp>

namespace penstock_test {

// The Error that `act` throws; a test in which it throws none fails.
inline penstock::Error error_of(const auto& act) {
  try {
    act();
  } catch (const penstock::Error& error) {
    return error;
  }
  throw std::runtime_error("nothing was thrown");
}

inline bool mentions(const penstock::Error& error, std::string_view text) {
  return std::string_view(error.what()).find(text) != std::string_view::npos;
}

inline penstock::Errc code_of(const auto& act) { return error_of(act).code(); }

}  // namespace penstock_test
