// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "device/device_model.hpp"

namespace penstock::detail {

/// The host itself as a device, for stages after `batch`. Each call does its work before it returns.
class HostDevice final : public DeviceModel {
 public:
  explicit HostDevice(MemoryResource& memory) : memory_(memory) {}
  Device device() const noexcept override { return host(); }
  std::string name() const override { return "host"; }
  bool is_host() const noexcept override { return true; }
  int enter() override { return 0; }
  void leave(int) noexcept override {}
  MemoryResource& device_memory() noexcept override { return memory_; }
  MemoryResource& pinned_memory() noexcept override { return memory_; }
  std::unique_ptr<Stream> make_stream(const char*, Priority) override { return std::make_unique<OwnStream>(); }
  std::unique_ptr<Event> make_event() override { return std::make_unique<Event>(); }
  void copy(void* to, const void* from, std::size_t bytes, StreamRef stream) override;
  void record(Event&, StreamRef) override {}
  void wait(StreamRef, const Event&) override {}
  void synchronize(const Event&) override {}
  void synchronize(StreamRef) override {}
  bool reached(const Event&) override { return true; }
  bool settle() noexcept override { return true; }
  bool captures(StreamRef) override { return false; }

 private:
  struct OwnStream final : Stream {
    StreamRef ref() const noexcept override { return {}; }
  };
  MemoryResource& memory_;
};

}  // namespace penstock::detail
