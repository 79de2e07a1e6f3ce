// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "delivery/delivery.hpp"
#include "delivery/device_ring.hpp"
#include "device/staging_memory.hpp"
#include "engine/engine.hpp"

namespace penstock::detail::runtime {

struct DeviceDeliveryOptions {
  MemoryResource* memory = nullptr;  ///< memory for batches on the only device; null: the device's own memory
  /// Memory of the engine's buffers; null: the user gave a resource for them.
  std::shared_ptr<const StagingMemory> staging = {};
  /// If true, the delivery begins with at most two batches. It allocates more when the caller needs them, up to the
  /// plan's `device_depth`. If false, it allocates all batches at once.
  bool grows = false;
};

/// Returns a delivery that copies batches to devices. A single device gets the whole buffer in one copy; each of
/// several devices gets a balanced part. Rows that differ in size are copied separately. Copies run while the caller
/// works on earlier batches. The buffers of `engine` must be in memory that the devices can read. @throws
/// Error(limit_exceeded | out_of_memory | device).
std::unique_ptr<Delivery> device_delivery(DeviceModels devices, std::shared_ptr<Engine> engine,
                                          const DeviceDeliveryOptions& options);

}  // namespace penstock::detail::runtime
