// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <penstock/shape.hpp>

namespace penstock::image {

// Returns whether there is one value for all channels, or one per channel. Also returns true if the number of
// channels is not known yet.
inline bool one_or_each(const std::vector<double>& values, std::int64_t channels) {
  return values.size() == 1 || channels == dynamic || static_cast<std::int64_t>(values.size()) == channels;
}

}  // namespace penstock::image
