// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "delivery/device_ring.hpp"
#include "ring/batch_layout.hpp"

namespace penstock::detail::runtime {

/// Divides a batch among several devices, in balanced parts, and sets what each device has of it. `whole`: layout of
/// the batch; `each`: layout of a part, both as the runners make them. The caller moves rows of any size.
void share_out(DeviceBatch& buffer, const BatchLayout& whole, const BatchLayout& each);

}  // namespace penstock::detail::runtime
