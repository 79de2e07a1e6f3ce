#pragma once

namespace penstock::detail {

/// Opens GPU `index`: its primary context, which the runtime uses as well, and whoever else is in the process. From
/// then on it is there as long as the process, as one that the runtime made would be. @throws Error(device |
/// out_of_memory).
void open_cuda_context(int index);

/// Has the calling thread's calls go to GPU `index`, which was opened, and lets them not disturb a stream capture of
/// anybody's. Returns what `leave_cuda` is to have again. They nest. What the thread had chosen before is current again
/// afterwards, also where that was nothing: `cudaSetDevice` would make a context on the GPU that it is told to choose.
/// @throws Error(device | out_of_memory).
int enter_cuda(int index);
void leave_cuda(int before) noexcept;

/// Makes a device current for the time of a block.
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
