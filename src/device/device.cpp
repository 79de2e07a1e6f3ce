// SPDX-License-Identifier: Apache-2.0
#include <penstock/device.hpp>

#include <atomic>
#include <charconv>
#include <cstdlib>
#include <string_view>
#include <system_error>

#include "device/cuda/cuda.hpp"
#include "device/devices.hpp"

namespace penstock {

namespace {
std::atomic<bool> best_was_host{false};
}

int detail::gpu_of_rank(int count, const std::function<const char*(const char*)>& environment) {
  // A launcher may show each process only its own GPU. Then the choice is made already.
  if (count <= 1) return 0;
  for (const char* name : {"LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID"}) {
    const char* const value = environment(name);
    if (value == nullptr) continue;
    const std::string_view text = value;
    unsigned rank = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rank);
    if (error == std::errc{} && end == text.data() + text.size())
      return static_cast<int>(rank % static_cast<unsigned>(count));
  }
  return 0;
}

Device best_device() noexcept {
  if (const int count = detail::cuda_device_count(); count > 0)
    return gpu(detail::gpu_of_rank(count, [](const char* name) -> const char* { return std::getenv(name); }));
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
