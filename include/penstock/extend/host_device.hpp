// SPDX-License-Identifier: Apache-2.0
#pragma once

/// PENSTOCK_HOST_DEVICE marks functions that the host and kernels share. The functions here give both the same bits.
/// Each operation rounds separately, and no operations are fused. If the host's CPU can fuse, compile the code that
/// uses these functions without contraction (`-ffp-contract=off`). Kernels need no option; only -ftz=true would change
/// their bits.

#ifdef __CUDACC__
#define PENSTOCK_HOST_DEVICE __host__ __device__
#else
#define PENSTOCK_HOST_DEVICE
#endif

namespace penstock::exact {

/// a + b
PENSTOCK_HOST_DEVICE inline float sum(float a, float b) noexcept {
#ifdef __CUDA_ARCH__
  return __fadd_rn(a, b);
#else
  return a + b;
#endif
}

/// a * b
PENSTOCK_HOST_DEVICE inline float product(float a, float b) noexcept {
#ifdef __CUDA_ARCH__
  return __fmul_rn(a, b);
#else
  return a * b;
#endif
}

/// a / b
PENSTOCK_HOST_DEVICE inline float quotient(float a, float b) noexcept {
#ifdef __CUDA_ARCH__
  return __fdiv_rn(a, b);
#else
  return a / b;
#endif
}

}  // namespace penstock::exact
