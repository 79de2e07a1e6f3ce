#include <penstock/device.hpp>

namespace penstock {

Device best_device() noexcept { return host(); }

std::string to_string(const Device& device) {
  return device.kind == Device::Kind::host ? "host" : "gpu " + std::to_string(device.index);
}

}  // namespace penstock
