// SPDX-License-Identifier: Apache-2.0
// What a network does. All matrices are row-major, f32. Each puts its work on the stream.
#pragma once

#include <cstddef>
#include <cstdint>

#include <cuda_runtime_api.h>

namespace kernels {

struct Sums {
  double loss;
  unsigned long long right;
};

// to [m, n] = a [m, k] * b [k, n], where a transposed one is stored the other way round. Plain, so slower than cuBLAS.
void multiply(cudaStream_t stream, bool transpose_a, bool transpose_b, std::size_t m, std::size_t n, std::size_t k,
              const float* a, const float* b, float* to);
// values[row][column] += bias[column], and where `positive` what is below 0 becomes 0.
void add_bias(cudaStream_t stream, float* values, const float* bias, std::size_t rows, std::size_t columns,
              bool positive);
// Logits become the gradient of cross-entropy: softmax, less 1 at the label. Adds to the sums.
void softmax_gradient(cudaStream_t stream, float* logits, const std::int64_t* labels, std::size_t rows,
                      std::size_t classes, Sums* sums);
// Zero where the hidden layer was.
void relu_gradient(cudaStream_t stream, float* gradient, const float* hidden, std::size_t count);
// to[column] = sum over rows.
void sum_rows(cudaStream_t stream, float* to, const float* values, std::size_t rows, std::size_t columns);
// velocity = momentum * velocity + scale * gradient; value -= rate * velocity.
void step(cudaStream_t stream, float* value, float* velocity, const float* gradient, std::size_t count, float momentum,
          float rate, float scale);

}  // namespace kernels
