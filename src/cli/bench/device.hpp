// SPDX-License-Identifier: Apache-2.0
// Where bench delivers its batches: --device.
#pragma once

#include <optional>
#include <string>

#include <penstock/device.hpp>
#include <penstock/emulated_gpu.hpp>

namespace penstock::cli {

/// The device that --device names. Empty text: the host. "gpu", "gpu:1": a GPU. "emulated": a GPU that the host
/// emulates; "emulated:500MB" limits its copies to that many bytes per second.
class BenchDevice {
 public:
  /// @throws UsageError for any other text.
  explicit BenchDevice(const std::string& text);
  Device device() const noexcept { return device_; }
  bool is_host() const noexcept { return device_ == host(); }
  /// Returns whether the host can read the device's memory as its own.
  bool host_reads() const noexcept { return device_.kind != Device::Kind::gpu; }

 private:
  std::optional<EmulatedGpu> emulated_;
  Device device_ = host();
};

}  // namespace penstock::cli
