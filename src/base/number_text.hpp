// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <charconv>
#include <string>

namespace penstock::detail {

/// Returns the fewest digits that read back as the same value, with a point in every locale. So a text names a setting
/// exactly.
inline std::string shortest(double value) {
  std::array<char, 32> digits;
  return {digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr};
}

}  // namespace penstock::detail
