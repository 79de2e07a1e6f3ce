// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace penstock::detail {

/// Opens the primary context of GPU `index`, which the runtime and other code of the process use too. The context then
/// lives as long as the process, like a context that the runtime makes.
/// @throws Error(device | out_of_memory).
void open_cuda_context(int index);

/// Directs the calling thread's CUDA calls to GPU `index`, which must be open, and keeps these calls from disturbing
/// any stream capture. Returns the argument for `leave_cuda`. Calls nest. `leave_cuda` restores the thread's
/// previous context and capture mode. If the thread had no context, it has none again. `cudaSetDevice` is not used,
/// because it creates a context on each GPU that it selects.
/// @throws Error(device | out_of_memory).
int enter_cuda(int index);
void leave_cuda(int before) noexcept;

/// Makes a device current for a block of code.
class CudaScope {
 public:
  explicit CudaScope(int index) : before_(enter_cuda(index)) {}
  CudaScope(const CudaScope&) = delete;
  CudaScope& operator=(const CudaScope&) = delete;
  ~CudaScope() { leave_cuda(before_); }

 private:
  int before_;
};

}  // namespace penstock::detail
