// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "delivery/device_ring.hpp"
#include "ring/batch_layout.hpp"

namespace penstock::detail::runtime {

/// Divides a batch into balanced parts, one per device, and sets the BatchInfo of each part. `whole`: layout of the
/// batch before the stages after `batch`. `each`: the same layout for a part. Doesn't set the addresses
/// of rows that differ in size.
void share_out(DeviceBatch& buffer, const BatchLayout& whole, const BatchLayout& each);

}  // namespace penstock::detail::runtime
