// SPDX-License-Identifier: Apache-2.0
#include "kernels.hpp"

#include <stdexcept>
#include <string>

namespace kernels {

namespace {

constexpr unsigned threads = 128;

// Returns the number of blocks for `count` elements, with one thread per element.
unsigned blocks_for(std::size_t count) { return static_cast<unsigned>((count + threads - 1) / threads); }

__device__ std::size_t index() { return static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; }

constexpr unsigned tile = 16;

// A block makes one tile of the product, and each thread one number of the tile. Numbers beyond the edge of a matrix
// count as zeros.
__global__ void multiply_kernel(bool transpose_a, bool transpose_b, std::size_t m, std::size_t n, std::size_t k,
                                const float* a, const float* b, float* to) {
  __shared__ float of_a[tile][tile + 1], of_b[tile][tile + 1];
  const unsigned x = threadIdx.x, y = threadIdx.y;
  const std::size_t row = blockIdx.y * std::size_t{tile} + y, column = blockIdx.x * std::size_t{tile} + x;
  float sum = 0;
  for (std::size_t first = 0; first < k; first += tile) {
    const std::size_t k_of_a = first + x, k_of_b = first + y;
    of_a[y][x] = row < m && k_of_a < k ? a[transpose_a ? k_of_a * m + row : row * k + k_of_a] : 0;
    of_b[y][x] = column < n && k_of_b < k ? b[transpose_b ? column * k + k_of_b : k_of_b * n + column] : 0;
    __syncthreads();
    for (unsigned i = 0; i < tile; ++i) sum += of_a[y][i] * of_b[i][x];
    __syncthreads();
  }
  if (row < m && column < n) to[row * n + column] = sum;
}

__global__ void add_bias_kernel(float* values, const float* bias, std::size_t count, std::size_t columns,
                                bool positive) {
  const std::size_t i = index();
  if (i >= count) return;
  const float v = values[i] + bias[i % columns];
  values[i] = positive && v < 0 ? 0 : v;
}

// Each thread does one row, because there are few classes.
__global__ void softmax_gradient_kernel(float* logits, const std::int64_t* labels, std::size_t rows,
                                        std::size_t classes, Sums* sums) {
  const std::size_t row = index();
  if (row >= rows) return;
  float* const p = logits + row * classes;
  const auto label = static_cast<std::size_t>(labels[row]);
  std::size_t largest = 0;
  for (std::size_t k = 1; k < classes; ++k)
    if (p[k] > p[largest]) largest = k;
  const float most = p[largest];
  float all = 0;
  for (std::size_t k = 0; k < classes; ++k) all += p[k] = expf(p[k] - most);
  for (std::size_t k = 0; k < classes; ++k) p[k] /= all;
  atomicAdd(&sums->loss, -static_cast<double>(logf(fmaxf(p[label], 1e-12f))));
  if (largest == label) atomicAdd(&sums->right, 1ull);
  p[label] -= 1;
}

__global__ void relu_gradient_kernel(float* gradient, const float* hidden, std::size_t count) {
  const std::size_t i = index();
  if (i < count && hidden[i] <= 0) gradient[i] = 0;
}

__global__ void sum_rows_kernel(float* to, const float* values, std::size_t rows, std::size_t columns) {
  const std::size_t column = index();
  if (column >= columns) return;
  float sum = 0;
  for (std::size_t row = 0; row < rows; ++row) sum += values[row * columns + column];
  to[column] = sum;
}

__global__ void step_kernel(float* value, float* velocity, const float* gradient, std::size_t count, float momentum,
                            float rate, float scale) {
  const std::size_t i = index();
  if (i >= count) return;
  velocity[i] = momentum * velocity[i] + scale * gradient[i];
  value[i] -= rate * velocity[i];
}

void check_launch(const char* kernel) {
  const cudaError_t code = cudaGetLastError();
  if (code != cudaSuccess) throw std::runtime_error(std::string(kernel) + ": " + cudaGetErrorString(code));
}

}  // namespace

void multiply(cudaStream_t stream, bool transpose_a, bool transpose_b, std::size_t m, std::size_t n, std::size_t k,
              const float* a, const float* b, float* to) {
  const auto blocks = [](std::size_t count) { return static_cast<unsigned>((count + tile - 1) / tile); };
  multiply_kernel<<<dim3(blocks(n), blocks(m)), dim3(tile, tile), 0, stream>>>(transpose_a, transpose_b, m, n, k, a, b,
                                                                               to);
  check_launch("multiply");
}

void add_bias(cudaStream_t stream, float* values, const float* bias, std::size_t rows, std::size_t columns,
              bool positive) {
  const std::size_t count = rows * columns;
  add_bias_kernel<<<blocks_for(count), threads, 0, stream>>>(values, bias, count, columns, positive);
  check_launch("add_bias");
}

void softmax_gradient(cudaStream_t stream, float* logits, const std::int64_t* labels, std::size_t rows,
                      std::size_t classes, Sums* sums) {
  softmax_gradient_kernel<<<blocks_for(rows), threads, 0, stream>>>(logits, labels, rows, classes, sums);
  check_launch("softmax_gradient");
}

void relu_gradient(cudaStream_t stream, float* gradient, const float* hidden, std::size_t count) {
  relu_gradient_kernel<<<blocks_for(count), threads, 0, stream>>>(gradient, hidden, count);
  check_launch("relu_gradient");
}

void sum_rows(cudaStream_t stream, float* to, const float* values, std::size_t rows, std::size_t columns) {
  sum_rows_kernel<<<blocks_for(columns), threads, 0, stream>>>(to, values, rows, columns);
  check_launch("sum_rows");
}

void step(cudaStream_t stream, float* value, float* velocity, const float* gradient, std::size_t count, float momentum,
          float rate, float scale) {
  step_kernel<<<blocks_for(count), threads, 0, stream>>>(value, velocity, gradient, count, momentum, rate, scale);
  check_launch("step");
}

}  // namespace kernels
