// SPDX-License-Identifier: Apache-2.0
// What PNG's filters predict, by the specification's formulas (9.2 and 9.4).
#pragma once

#include <cstdint>
#include <cstdlib>

#include "codec/png/filters.hpp"

namespace penstock_test {

inline std::uint8_t predicted(penstock::png::Filter filter, int left, int up, int corner) {
  const int p = left + up - corner;
  const int to_left = std::abs(p - left), to_up = std::abs(p - up), to_corner = std::abs(p - corner);
  switch (filter) {
    case penstock::png::sub_filter:
      return static_cast<std::uint8_t>(left);
    case penstock::png::up_filter:
      return static_cast<std::uint8_t>(up);
    case penstock::png::average_filter:
      return static_cast<std::uint8_t>((left + up) / 2);
    case penstock::png::paeth_filter:
      if (to_left <= to_up && to_left <= to_corner) return static_cast<std::uint8_t>(left);
      return static_cast<std::uint8_t>(to_up <= to_corner ? up : corner);
    default:
      return 0;
  }
}

}  // namespace penstock_test
