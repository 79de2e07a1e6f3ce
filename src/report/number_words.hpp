// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <string>

namespace penstock::detail::runtime {

/// Returns the number with so many digits after the point.
inline std::string number(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}
/// Returns a share as "42 %".
inline std::string percent(double share) { return number(100 * share, 0) + " %"; }

}  // namespace penstock::detail::runtime
