#pragma once

#include "delivery/device_ring.hpp"
#include "ring/batch_layout.hpp"

namespace penstock::detail::runtime {

/// Says what each device has of a batch that several share, in balanced parts. `whole`: the layout of the batch,
/// `each`: of a part, both as the runners make them. Rows of any size are left to the caller that moves them.
void share_out(DeviceBatch& buffer, const BatchLayout& whole, const BatchLayout& each);

}  // namespace penstock::detail::runtime
