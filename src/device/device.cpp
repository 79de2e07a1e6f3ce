#include <penstock/device.hpp>

#include <atomic>

#include "device/cuda/cuda.hpp"
#include "device/devices.hpp"

namespace penstock {

namespace {
std::atomic<bool> best_was_host{false};
}

Device best_device() noexcept {
  if (detail::cuda_device_count() > 0) return gpu(0);
  best_was_host.store(true, std::memory_order_relaxed);
  return host();
}

std::string device_support() { return detail::cuda_support(); }

std::string detail::why_best_is_host() {
  return best_was_host.load(std::memory_order_relaxed) ? device_support() : std::string();
}

std::string to_string(const Device& device) {
  switch (device.kind) {
    case Device::Kind::host:
      return "host";
    case Device::Kind::gpu:
      return "gpu " + std::to_string(device.index);
    case Device::Kind::emulated:
      return "emulated gpu " + std::to_string(device.index);
  }
  return "?";
}

}  // namespace penstock
