#include "delivery/device_parts.hpp"

#include <algorithm>
#include <cstddef>

#include "pipeline/shard.hpp"

namespace penstock::detail {

void share_out(DeviceSlot& slot, const BatchLayout& whole, const BatchLayout& each) {
  for (std::size_t p = 0; p < slot.parts.size(); ++p) {
    const RowRange rows =
        balanced_part(slot.rows, {.rank = static_cast<int>(p), .world = static_cast<int>(slot.parts.size())});
    DevicePart& part = slot.parts[p];
    part.first = rows.first;
    BatchInfo& own = part.own;
    own.epoch = slot.epoch;
    own.number = slot.number;
    own.first = slot.first;
    own.rows = rows.count;
    own.of_all = slot.valid;
    own.valid = std::min(rows.count, slot.valid - std::min(slot.valid, rows.first));
    const auto first = static_cast<std::ptrdiff_t>(rows.first), count = static_cast<std::ptrdiff_t>(rows.count);
    std::copy_n(slot.indices.begin() + first, count, own.indices.begin());
    std::copy_n(slot.mask.begin() + first, count, own.mask.begin());
    for (std::size_t v = 0; v < whole.row().varying(); ++v)
      std::copy_n(slot.lengths.begin() + static_cast<std::ptrdiff_t>(v * whole.rows()) + first, count,
                  own.lengths.begin() + static_cast<std::ptrdiff_t>(v * each.rows()));
  }
}

}  // namespace penstock::detail
