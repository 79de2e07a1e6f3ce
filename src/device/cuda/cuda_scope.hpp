// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace penstock::detail {

/// Opens GPU `index`: its primary context, which the runtime and other code in the process use as well. The context
/// then lives as long as the process, like a context that the runtime makes.
/// @throws Error(device | out_of_memory).
void open_cuda_context(int index);

/// Directs the calling thread's calls to GPU `index`, which must be open, and keeps them from disturbing any stream
/// capture. Returns the argument for `leave_cuda`. Calls nest. `leave_cuda` restores what was current before, even if
/// that was nothing. (`cudaSetDevice` would make a context on the GPU that it chooses.)
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
