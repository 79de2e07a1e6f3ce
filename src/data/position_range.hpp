// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace penstock::detail {

/// Positions of an epoch, from `begin` to `end`, without `end`.
struct PositionRange {
  std::uint64_t begin = 0, end = 0;
};

}  // namespace penstock::detail
