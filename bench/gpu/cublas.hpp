// SPDX-License-Identifier: Apache-2.0
// cuBLAS where the machine has it, opened when the program runs: it is half a gigabyte that can't travel with a
// program, and without it all but the products' speed is the same.
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

  // Whether it was found; else there is nothing to be called.
  bool found() const noexcept { return handle_ != nullptr; }
  // The library's, or why there is none.
  static std::string name();
  // c = a * b, square matrices of halves. @throws std::runtime_error.
  void multiply(cudaStream_t stream, int side, const void* a, const void* b, void* c) const;

 private:
  void* handle_ = nullptr;
};

}  // namespace penstock::gpu_bench
