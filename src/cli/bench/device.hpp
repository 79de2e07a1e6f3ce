// Where the batches of bench end up: --device.
#pragma once

#include <optional>
#include <string>

#include <penstock/device.hpp>
#include <penstock/emulated_gpu.hpp>

namespace penstock::cli {

/// What --device names: the host where it is empty; "gpu", "gpu:1"; "emulated", a GPU that the host emulates, or
/// "emulated:500MB", whose copies are no faster than so many bytes a second.
class BenchDevice {
 public:
  /// @throws UsageError.
  explicit BenchDevice(const std::string& text);
  Device device() const noexcept { return device_; }
  bool is_host() const noexcept { return device_ == host(); }
  /// The host reads what is there as its own memory.
  bool host_reads() const noexcept { return device_.kind != Device::Kind::gpu; }

 private:
  std::optional<EmulatedGpu> emulated_;
  Device device_ = host();
};

}  // namespace penstock::cli
