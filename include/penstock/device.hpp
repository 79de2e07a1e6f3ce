// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <penstock/detail/export.hpp>

namespace penstock {

/// Where batches end up: in the memory of the host, of a GPU, or of a GPU that the host emulates.
struct Device {
  /// What kind of device it is.
  enum class Kind : std::uint8_t { host, gpu, emulated };
  /// What kind of device it is.
  Kind kind = Kind::host;
  /// Number of the device among those of its kind, from 0.
  int index = 0;
  friend bool operator==(const Device&, const Device&) = default;
};

/// Returns the host, which is the default.
inline Device host() noexcept { return {}; }
/// Returns the GPU that CUDA numbers `index`. If the build, the driver or the machine does not support this GPU, making
/// a loader for it throws Error(unsupported), which says why.
inline Device gpu(int index) noexcept { return {Device::Kind::gpu, index}; }
/// Returns a GPU if this build and machine have one, otherwise the host. A loader's report shows which device was
/// chosen, and why. If there are several GPUs, takes the GPU whose number is this process's rank on its machine.
/// Reads this rank from LOCAL_RANK (set by torchrun), otherwise from OMPI_COMM_WORLD_LOCAL_RANK (set by Open MPI),
/// otherwise from SLURM_LOCALID (set by Slurm). A variable that is not a whole number of at least 0 is ignored. If
/// there are more ranks than GPUs, the GPU's number is the rank modulo the number of GPUs. Without a rank, GPU 0 is
/// taken.
///
/// Any thread. In a build with CUDA the first call starts the driver. The driver does not work in processes that are
/// forked after that.
PENSTOCK_API Device best_device() noexcept;
/// Returns in a few words what this build and machine support: "built without CUDA", "CUDA 13.0 runtime, no driver on
/// this machine", "CUDA 13.0, 2 GPUs". Any thread. Starts the driver, like `best_device`.
PENSTOCK_API std::string device_support();
/// Returns "host", "gpu 0" or "emulated gpu 0".
PENSTOCK_API std::string to_string(const Device& device);

/// An opaque stream of work on a device. A default-constructed StreamRef is the host itself: work on it is done when
/// the call that makes the work returns. Owns nothing. A StreamRef of a CUDA stream can be made only with the header
/// interop/cuda.hpp, because only this header knows which stream handle 0 means.
class StreamRef {
 public:
  StreamRef() = default;
  StreamRef(int) = delete;
  StreamRef(std::nullptr_t) = delete;
  /// Returns the stream of `device` with this handle. For implementations of devices.
  static StreamRef of(void* handle, Device device) noexcept {
    StreamRef s;
    s.handle_ = handle;
    s.device_ = device;
    return s;
  }
  /// The stream's handle; null for the host.
  void* handle() const noexcept { return handle_; }
  /// The device that the stream belongs to.
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
  /// True if the work writes to these bytes.
  bool writes = false;
};

}  // namespace penstock
