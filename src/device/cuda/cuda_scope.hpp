#pragma once

namespace penstock::detail {

/// Has the calling thread's calls go to GPU `index`, and lets them not disturb a stream capture of anybody's. Returns
/// both as they were, for `leave_cuda`. @throws Error(device | out_of_memory).
int enter_cuda(int index);
void leave_cuda(int before) noexcept;

/// For the time of a block.
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
