#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "delivery/delivery.hpp"
#include "delivery/device_ring.hpp"
#include "engine/engine.hpp"

namespace penstock::detail {

struct DeviceDeliveryOptions {
  unsigned depth = 3;                        ///< batches on the device
  MemoryResource* memory = nullptr;          ///< of the only device; null: its own
  bool grows = false;                        ///< as many at most, two at first
  std::uint64_t epochs = 0;                  ///< 0 = no end
  std::size_t rows_limit = ~std::size_t{0};  ///< bytes of a batch for fields of any size
};

/// Batches are copied to a device, each by one copy of its whole slot, while the ones before are worked on; where there
/// are several devices, its balanced part to each. `engine` has its slots in memory that the devices read.
/// @throws Error(out_of_memory | device).
std::unique_ptr<Delivery> device_delivery(DeviceModels devices, std::shared_ptr<Engine> engine,
                                          std::shared_ptr<const PipelineData> data,
                                          const DeviceDeliveryOptions& options);

}  // namespace penstock::detail
