#include "kernels.hpp"

#include <stdexcept>
#include <string>

namespace kernels {

namespace {

constexpr unsigned threads = 128;

// One thread an element.
unsigned blocks_for(std::size_t count) { return static_cast<unsigned>((count + threads - 1) / threads); }

__device__ std::size_t index() { return static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; }

__global__ void add_bias_kernel(float* values, const float* bias, std::size_t count, std::size_t columns,
                                bool positive) {
  const std::size_t i = index();
  if (i >= count) return;
  const float v = values[i] + bias[i % columns];
  values[i] = positive && v < 0 ? 0 : v;
}

// One thread a row: there are few classes.
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
