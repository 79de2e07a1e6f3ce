// SPDX-License-Identifier: Apache-2.0
// A device in front of another one, to which it passes every call: for what is to see calls, or to leave some out.
#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>

#include "device/device_model.hpp"

namespace help {

/// For a test's own device. No other one's: those of EmulatedGpu count from 0.
inline penstock::Device next_device() {
  static int index = 1 << 20;
  return {penstock::Device::Kind::emulated, index++};
}

class ForwardingDevice : public penstock::detail::DeviceModel {
 public:
  explicit ForwardingDevice(std::shared_ptr<DeviceModel> inner) : inner_(std::move(inner)) {}

  penstock::Device device() const noexcept override { return inner_->device(); }
  std::string name() const override { return inner_->name(); }
  bool is_host() const noexcept override { return inner_->is_host(); }
  int enter() override { return inner_->enter(); }
  void leave(int before) noexcept override { inner_->leave(before); }
  penstock::MemoryResource& device_memory() noexcept override { return inner_->device_memory(); }
  penstock::MemoryResource& pinned_memory() noexcept override { return inner_->pinned_memory(); }
  std::unique_ptr<Stream> make_stream(const char* name, Priority priority) override {
    return inner_->make_stream(name, priority);
  }
  std::unique_ptr<Event> make_event() override { return inner_->make_event(); }
  void copy(void* to, const void* from, std::size_t bytes, penstock::StreamRef stream) override {
    inner_->copy(to, from, bytes, stream);
  }
  void record(Event& event, penstock::StreamRef stream) override { inner_->record(event, stream); }
  void wait(penstock::StreamRef stream, const Event& event) override { inner_->wait(stream, event); }
  void launch_on_host(penstock::StreamRef stream, const char* name, std::function<void()> work,
                      std::initializer_list<penstock::MemoryUse> uses) override {
    inner_->launch_on_host(stream, name, std::move(work), uses);
  }
  void synchronize(const Event& event) override { inner_->synchronize(event); }
  void synchronize(penstock::StreamRef stream) override { inner_->synchronize(stream); }
  bool settle() noexcept override { return inner_->settle(); }
  bool reached(const Event& event) override { return inner_->reached(event); }
  bool captures(penstock::StreamRef stream) override { return inner_->captures(stream); }
  void host_reads(const void* data, std::size_t bytes) override { inner_->host_reads(data, bytes); }
  void host_writes(const void* data, std::size_t bytes) override { inner_->host_writes(data, bytes); }

 protected:
  DeviceModel& inner() const noexcept { return *inner_; }

 private:
  std::shared_ptr<DeviceModel> inner_;
};

}  // namespace help
