// SPDX-License-Identifier: Apache-2.0
#include "delivery/device_parts.hpp"

#include <algorithm>
#include <cstddef>

#include "pipeline/rank_rows.hpp"

namespace penstock::detail::runtime {

void share_out(DeviceBatch& buffer, const BatchLayout& whole, const BatchLayout& each) {
  for (std::size_t p = 0; p < buffer.parts.size(); ++p) {
    const RowRange rows =
        balanced_share(buffer.rows, {.rank = static_cast<int>(p), .world = static_cast<int>(buffer.parts.size())});
    DevicePart& part = buffer.parts[p];
    part.first = rows.first;
    BatchInfo& own = part.own;
    own.epoch = buffer.epoch;
    own.number = buffer.number;
    own.first = buffer.first;
    own.rows = rows.count;
    own.of_all = buffer.valid;
    own.valid = std::min(rows.count, buffer.valid - std::min(buffer.valid, rows.first));
    const auto first = static_cast<std::ptrdiff_t>(rows.first), count = static_cast<std::ptrdiff_t>(rows.count);
    std::copy_n(buffer.indices.begin() + first, count, own.indices.begin());
    std::copy_n(buffer.mask.begin() + first, count, own.mask.begin());
    for (std::size_t v = 0; v < whole.row().varying(); ++v)
      std::copy_n(buffer.lengths.begin() + static_cast<std::ptrdiff_t>(v * whole.rows()) + first, count,
                  own.lengths.begin() + static_cast<std::ptrdiff_t>(v * each.rows()));
  }
}

}  // namespace penstock::detail::runtime
