#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <penstock/detail/export.hpp>

namespace penstock {

/// Where batches end up: the host's memory, one GPU's, or that of one that the host emulates.
struct Device {
  /// What kind of device it is.
  enum class Kind : std::uint8_t { host, gpu, emulated };
  /// What kind of device it is.
  Kind kind = Kind::host;
  /// Number of the device among those of its kind, from 0.
  int index = 0;
  friend bool operator==(const Device&, const Device&) = default;
};

/// The host's memory. The default.
inline Device host() noexcept { return {}; }
/// GPU number `index`, as CUDA counts them. A loader for it is refused with Error(unsupported) where the build, the
/// driver or the machine has none, and the error says which.
inline Device gpu(int index) noexcept { return {Device::Kind::gpu, index}; }
/// A GPU if this build and machine have one, else the host; the report says which, and why. Of one GPU, gpu(0). Of
/// several, the one of this process's rank on its machine, as launchers say it: LOCAL_RANK (torchrun), else
/// OMPI_COMM_WORLD_LOCAL_RANK (Open MPI), else SLURM_LOCALID; where there are more ranks than GPUs, rank modulo their
/// number; without a rank, gpu(0). Something else than a number is no rank. Any thread. In a build
/// with CUDA the first call starts its driver, which does not work in processes that are forked afterwards.
PENSTOCK_API Device best_device() noexcept;
/// What this build and machine have, in a few words: "built without CUDA", "CUDA 13.0 runtime, no driver on this
/// machine", "CUDA 13.0, 2 GPUs". Any thread; starts the driver as `best_device` does.
PENSTOCK_API std::string device_support();
/// "host", "gpu 0", "emulated 0".
PENSTOCK_API std::string to_string(const Device& device);

/// An opaque stream of work on a device; a default one is the host itself, on which everything is done when a call
/// returns. Owns nothing. Made from a CUDA stream in the CUDA headers only, where 0 can be told apart.
class StreamRef {
 public:
  StreamRef() = default;
  StreamRef(int) = delete;
  StreamRef(std::nullptr_t) = delete;
  /// A stream of `device`, by its handle. For device implementations.
  static StreamRef of(void* handle, Device device) noexcept {
    StreamRef s;
    s.handle_ = handle;
    s.device_ = device;
    return s;
  }
  /// The stream's own handle; null for the host.
  void* handle() const noexcept { return handle_; }
  /// The device that it belongs to.
  Device device() const noexcept { return device_; }

 private:
  void* handle_ = nullptr;
  Device device_;
};

/// Bytes that work on a device uses.
struct MemoryUse {
  /// The first byte.
  const void* data = nullptr;
  /// Number of bytes.
  std::size_t bytes = 0;
  /// Whether the work writes to them.
  bool writes = false;
};

}  // namespace penstock
