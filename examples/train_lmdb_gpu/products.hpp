// SPDX-License-Identifier: Apache-2.0
// Multiplies matrices on a GPU: with cuBLAS if the machine has it, otherwise with a plain kernel. The program looks for
// cuBLAS when it runs, because the library has half a gigabyte and can't be shipped with a program.
#pragma once

#include <cstddef>

#include <cuda_runtime_api.h>

#include "network.hpp"

class Products {
 public:
  // `stream`: where products are computed. @throws std::runtime_error.
  Products(cudaStream_t stream, MatrixProducts by);
  Products(const Products&) = delete;
  Products& operator=(const Products&) = delete;
  ~Products();

  // Computes to [m, n] = a [m, k] * b [k, n] in f32. Matrices are row-major. A transposed matrix is stored as [k, m] or
  // [n, k].
  // @throws std::runtime_error.
  void multiply(bool transpose_a, bool transpose_b, std::size_t m, std::size_t n, std::size_t k, const float* a,
                const float* b, float* to) const;

 private:
  cudaStream_t stream_;
  void* cublas_ = nullptr;  // null if the plain kernel is used
};
