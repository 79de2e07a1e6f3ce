// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <charconv>
#include <string>

namespace penstock::detail {

/// Returns the shortest text that reads back as exactly the same value. The decimal separator is a point in every
/// locale.
inline std::string shortest(double value) {
  std::array<char, 32> digits;
  return {digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr};
}

}  // namespace penstock::detail
