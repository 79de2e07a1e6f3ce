// SPDX-License-Identifier: Apache-2.0
// The kernels of a network. All matrices are row-major f32. Each function puts its work on the stream and does not
// wait.
#pragma once

#include <cstddef>
#include <cstdint>

#include <cuda_runtime_api.h>

namespace kernels {

struct Sums {
  double loss;
  unsigned long long right;
};

// Computes to [m, n] = a [m, k] * b [k, n]. A transposed matrix is stored as [k, m] or [n, k]. The kernel is plain, so
// it is slower than cuBLAS.
void multiply(cudaStream_t stream, bool transpose_a, bool transpose_b, std::size_t m, std::size_t n, std::size_t k,
              const float* a, const float* b, float* to);
// Adds the bias: values[row][column] += bias[column]. If `positive`, results below 0 become 0.
void add_bias(cudaStream_t stream, float* values, const float* bias, std::size_t rows, std::size_t columns,
              bool positive);
// Turns logits into the gradient of cross-entropy, which is the softmax less 1 at the label. Adds loss and right
// answers to `sums`.
void softmax_gradient(cudaStream_t stream, float* logits, const std::int64_t* labels, std::size_t rows,
                      std::size_t classes, Sums* sums);
// Sets the gradient to 0 at each element at which `hidden` is 0.
void relu_gradient(cudaStream_t stream, float* gradient, const float* hidden, std::size_t count);
// Sums the rows: to[column] = sum of values[row][column].
void sum_rows(cudaStream_t stream, float* to, const float* values, std::size_t rows, std::size_t columns);
// Makes a step: velocity = momentum * velocity + scale * gradient, then value -= rate * velocity.
void step(cudaStream_t stream, float* value, float* velocity, const float* gradient, std::size_t count, float momentum,
          float rate, float scale);

}  // namespace kernels
