// SPDX-License-Identifier: Apache-2.0
// cuBLAS, if the machine has it. The program loads it when it runs, because the library has half a gigabyte and can't
// be shipped with a program. Without it, only the speed of matrix products differs.
#pragma once

#include <string>

#include <cuda_runtime_api.h>

namespace penstock::gpu_bench {

class Cublas {
 public:
  Cublas();
  Cublas(const Cublas&) = delete;
  Cublas& operator=(const Cublas&) = delete;
  ~Cublas();

  // Returns whether cuBLAS was found. `multiply` may be called only then.
  bool found() const noexcept { return handle_ != nullptr; }
  // Returns the name of the library, or why it could not be loaded.
  static std::string name();
  // Computes c = a * b for square matrices of halves. @throws std::runtime_error.
  void multiply(cudaStream_t stream, int side, const void* a, const void* b, void* c) const;

 private:
  void* handle_ = nullptr;
};

}  // namespace penstock::gpu_bench
