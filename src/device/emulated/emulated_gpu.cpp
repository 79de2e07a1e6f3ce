// SPDX-License-Identifier: Apache-2.0
#include <penstock/emulated_gpu.hpp>

#include <unistd.h>

#include <atomic>
#include <new>
#include <utility>

#include "device/devices.hpp"
#include "emulated_device.hpp"

namespace penstock {

struct EmulatedGpu::Stream::Own {
  std::shared_ptr<detail::EmulatedDevice> device;
  std::unique_ptr<detail::DeviceModel::Stream> stream;
  pid_t pid = ::getpid();
};

EmulatedGpu::Stream::Stream(std::unique_ptr<Own> own) noexcept : own_(std::move(own)) {}
EmulatedGpu::Stream::Stream(Stream&&) noexcept = default;
EmulatedGpu::Stream& EmulatedGpu::Stream::operator=(Stream&&) noexcept = default;
EmulatedGpu::Stream::~Stream() {
  // In a forked child, the stream's thread does not exist, so the stream can't be destroyed.
  if (own_ != nullptr && own_->pid != ::getpid()) static_cast<void>(own_.release());
}
StreamRef EmulatedGpu::Stream::ref() const noexcept { return own_->stream->ref(); }
void EmulatedGpu::Stream::launch(const char* name, std::function<void()> work, std::initializer_list<MemoryUse> uses) {
  own_->device->launch(ref(), name, std::move(work), uses);
}
void EmulatedGpu::Stream::synchronize() { own_->device->synchronize(ref()); }
void EmulatedGpu::Stream::begin_capture() { own_->device->begin_capture(ref()); }
std::size_t EmulatedGpu::Stream::end_capture() { return own_->device->end_capture(ref()); }

EmulatedGpu::EmulatedGpu(const EmulatedGpuOptions& options) : pid_(::getpid()) {
  static std::atomic<int> next{0};
  index_ = next.fetch_add(1, std::memory_order_relaxed);
  device_ = std::make_shared<detail::EmulatedDevice>(Device{Device::Kind::emulated, index_}, options);
  detail::register_device(device_);
}
EmulatedGpu::EmulatedGpu(EmulatedGpu&&) noexcept = default;
EmulatedGpu& EmulatedGpu::operator=(EmulatedGpu&&) noexcept = default;
EmulatedGpu::~EmulatedGpu() {
  // In a forked child, the device's threads do not exist, so the device can't be destroyed.
  if (device_ != nullptr && pid_ != ::getpid())
    static_cast<void>(new (std::nothrow) std::shared_ptr<detail::EmulatedDevice>(std::move(device_)));
}

Device EmulatedGpu::device() const noexcept { return {Device::Kind::emulated, index_}; }

EmulatedGpu::Stream EmulatedGpu::make_stream(const char* name) {
  auto own = std::make_unique<Stream::Own>();
  own->device = device_;
  own->stream = device_->make_stream(name, detail::DeviceModel::Priority::normal);
  return Stream(std::move(own));
}

std::uint64_t EmulatedGpu::calls() const { return device_->calls(); }
std::vector<std::string> EmulatedGpu::findings() const { return device_->findings(); }
std::size_t EmulatedGpu::device_bytes_used() const noexcept { return device_->used(MemoryKind::device); }
std::size_t EmulatedGpu::pinned_bytes_used() const noexcept { return device_->used(MemoryKind::pinned); }

}  // namespace penstock
