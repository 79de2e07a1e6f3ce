// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace penstock::detail {

/// The positions of an epoch from `begin` up to `end`, which is not included.
struct PositionRange {
  std::uint64_t begin = 0, end = 0;
};

}  // namespace penstock::detail
