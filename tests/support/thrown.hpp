// What a call throws.
#pragma once

#include <stdexcept>

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

inline penstock::Errc code_of(const auto& act) { return error_of(act).code(); }

}  // namespace penstock_test
