#include <penstock/device.hpp>

namespace penstock {

Device best_device() noexcept { return host(); }

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
