// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include <penstock/error.hpp>
#include <penstock/memory.hpp>

#include "device/device_model.hpp"

namespace penstock::detail {

/// The host has memory, but it can't be pinned.
struct CannotPin : Error {
  using Error::Error;
};

/// Allocates the host memory from which batches are copied to a device. The memory is pinned. If that is not possible,
/// it is ordinary memory, from which copies are slower. Any thread may use this resource.
class StagingMemory final : public MemoryResource {
 public:
  explicit StagingMemory(std::shared_ptr<DeviceModel> device);

  /// @throws what the pinned memory throws, except CannotPin; and what `host_memory` throws.
  void* allocate(std::size_t bytes, std::size_t align) override;
  void deallocate(void* data, std::size_t bytes, std::size_t align) noexcept override;
  MemoryKind kind() const noexcept override { return device_->pinned_memory().kind(); }

  /// Returns a note for the report if any memory was ordinary; otherwise an empty text.
  std::string note() const;

 private:
  std::shared_ptr<DeviceModel> device_;
  mutable std::mutex mutex_;
  std::set<void*> ordinary_;
  std::string why_;
};

}  // namespace penstock::detail
