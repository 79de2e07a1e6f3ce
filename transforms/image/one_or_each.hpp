#pragma once

#include <cstdint>
#include <vector>

#include <penstock/shape.hpp>

namespace penstock::image {

// One value for all channels, or one for each; where their number is not known yet, any.
inline bool one_or_each(const std::vector<double>& values, std::int64_t channels) {
  return values.size() == 1 || channels == dynamic || static_cast<std::int64_t>(values.size()) == channels;
}

}  // namespace penstock::image
