// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "delivery/delivery.hpp"
#include "delivery/device_ring.hpp"
#include "device/staging_memory.hpp"
#include "engine/engine.hpp"

namespace penstock::detail::runtime {

struct DeviceDeliveryOptions {
  MemoryResource* memory = nullptr;                   ///< memory for the only device; null: the device's own
  std::shared_ptr<const StagingMemory> staging = {};  ///< staging for the engine's buffers, if the user does not give
                                                      ///< it
  bool grows = false;                                 ///< two batches at first, and up to the plan's number later
};

/// Copies batches to devices: the whole buffer in one copy to a single device, or its balanced part to each of several.
/// The copy runs while the batches before are worked on. The buffers of `engine` must be in memory that the devices
/// read. @throws Error(out_of_memory | device).
std::unique_ptr<Delivery> device_delivery(DeviceModels devices, std::shared_ptr<Engine> engine,
                                          const DeviceDeliveryOptions& options);

}  // namespace penstock::detail::runtime
