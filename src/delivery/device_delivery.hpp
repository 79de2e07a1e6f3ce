#pragma once

#include <memory>

#include "delivery/delivery.hpp"
#include "delivery/device_ring.hpp"
#include "device/staging_memory.hpp"
#include "engine/engine.hpp"

namespace penstock::detail::runtime {

struct DeviceDeliveryOptions {
  MemoryResource* memory = nullptr;                   ///< where the only device gets its memory; null: its own
  std::shared_ptr<const StagingMemory> staging = {};  ///< staging for the engine's buffers, where it is not the user's
  bool grows = false;                                 ///< two batches at first, and as many as the plan says at most
};

/// Batches are copied to a device, each by one copy of its whole buffer, while the ones before are worked on; where
/// there are several devices, its balanced part to each. `engine` has its buffers in memory that the devices read.
/// @throws Error(out_of_memory | device).
std::unique_ptr<Delivery> device_delivery(DeviceModels devices, std::shared_ptr<Engine> engine,
                                          const DeviceDeliveryOptions& options);

}  // namespace penstock::detail::runtime
