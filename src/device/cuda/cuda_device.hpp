// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include <cuda_runtime_api.h>

#include "device/device_model.hpp"
#include "device_memory.hpp"
#include "pinned_memory.hpp"

namespace penstock::detail {

/// The most memory that Penstock may take on a GPU; 0 means no limit.
struct CudaLimits {
  std::size_t device_bytes = 0;
};

/// A GPU. Each call of the model makes only the matching call of the CUDA runtime. The code that uses the model decides
/// what waits for what. Handles of streams are `cudaStream_t`. No host callback is ever put on a stream. A callback
/// must not call CUDA, and may delay other streams. After the context has failed, a callback never runs, so a thread
/// that waits for it would hang.
class CudaDevice final : public DeviceModel {
 public:
  /// @throws Error(device | out_of_memory).
  explicit CudaDevice(int index, const CudaLimits& limits = {});
  ~CudaDevice() override;

  Device device() const noexcept override { return gpu(index_); }
  std::string name() const override { return name_; }
  int enter() override;
  void leave(int before) noexcept override;
  MemoryResource& device_memory() noexcept override { return *device_memory_; }
  MemoryResource& pinned_memory() noexcept override { return pinned_memory_; }
  std::unique_ptr<Stream> make_stream(const char* name, Priority priority) override;
  std::unique_ptr<Event> make_event() override;
  std::unique_ptr<Timer> make_timer() override;
  void copy(void* to, const void* from, std::size_t bytes, StreamRef stream) override;
  void record(Event& event, StreamRef stream) override;
  void wait(StreamRef stream, const Event& event) override;
  void synchronize(const Event& event) override;
  void synchronize(StreamRef stream) override;
  bool reached(const Event& event) override;
  bool settle() noexcept override;
  bool captures(StreamRef stream) override;

 private:
  class OwnStream;
  class OwnEvent;
  class OwnTimer;

  const int index_;
  std::string name_;
  std::optional<CudaDeviceMemory> device_memory_;
  CudaPinnedMemory pinned_memory_;
};

}  // namespace penstock::detail
