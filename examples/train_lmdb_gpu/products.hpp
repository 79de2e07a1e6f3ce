// SPDX-License-Identifier: Apache-2.0
// Products of matrices on a GPU: by cuBLAS where the machine has it, which is looked for when the program runs, as it
// is half a gigabyte that can't travel with a program; else by a plain kernel.
#pragma once

#include <cstddef>

#include <cuda_runtime_api.h>

#include "network.hpp"

class Products {
 public:
  // Works on this stream. @throws std::runtime_error.
  Products(cudaStream_t stream, MatrixProducts by);
  Products(const Products&) = delete;
  Products& operator=(const Products&) = delete;
  ~Products();

  // to [m, n] = a [m, k] * b [k, n], f32, row-major, where a transposed one is stored the other way round.
  // @throws std::runtime_error.
  void multiply(bool transpose_a, bool transpose_b, std::size_t m, std::size_t n, std::size_t k, const float* a,
                const float* b, float* to) const;

 private:
  cudaStream_t stream_;
  void* cublas_ = nullptr;  // none: the plain kernel
};
