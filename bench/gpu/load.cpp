// SPDX-License-Identifier: Apache-2.0
#include "load.hpp"

#include <algorithm>
#include <cmath>

#include "kernels.hpp"

namespace penstock::gpu_bench {

namespace {

constexpr int max_side = 4096;
constexpr std::size_t matrix_bytes = std::size_t{max_side} * max_side * 2;
constexpr std::size_t traffic_bytes = std::size_t{256} << 20;

}  // namespace

Load::Load(Sort sort, Numbers numbers)
    : sort_(sort), memory_(Kind::device, sort == Sort::gemm ? 3 * matrix_bytes : traffic_bytes) {
  if (sort != Sort::gemm) return;
  if (numbers == Numbers::random) {
    // Uses a stream of its own, because other code may use the default stream.
    const CudaStream stream;
    fill_halves(stream.handle(), memory_.data(), 2 * matrix_bytes / 2, 1);
    stream.synchronize();
  }
  cublas_.emplace();
  side_ = max_side;
}

// With the slower kernel, pieces of side 1024 would be too long for short steps.
int Load::least_side() const { return cublas_ && cublas_->found() ? 1024 : 256; }

void Load::take(double seconds, const CudaStream& stream, int parts, bool below) {
  constexpr int times = 20;
  double each = 0;
  warm(stream);
  for (side_ = max_side;; side_ /= 2) {
    each = time_on(stream, times, [&] { enqueue_piece(stream.handle(), side_); }) / times;
    if (sort_ != Sort::gemm || side_ == least_side() || each * parts <= seconds) break;
  }
  const double wanted = seconds / each;
  pieces_ = std::max(1, static_cast<int>(below ? std::floor(wanted) : std::round(wanted)));
}

void Load::enqueue(cudaStream_t stream) const {
  for (int i = 0; i < pieces_; ++i) enqueue_piece(stream, side_);
}

void Load::enqueue_large(cudaStream_t stream) const { enqueue_piece(stream, max_side); }

void Load::warm(const CudaStream& stream) const {
  constexpr double seconds = 0.3;
  constexpr int at_a_time = 8;
  for (const double end = wall_seconds() + seconds; wall_seconds() < end; stream.synchronize())
    for (int i = 0; i < at_a_time; ++i) enqueue_large(stream.handle());
}

void Load::enqueue_piece(cudaStream_t stream, int side) const {
  if (sort_ == Sort::memory) return add_one(stream, memory_.as<float>(), traffic_bytes / sizeof(float));
  const std::byte* const a = memory_.data();
  const std::byte* const b = a + matrix_bytes;
  std::byte* const c = memory_.data() + 2 * matrix_bytes;
  if (cublas_->found())
    cublas_->multiply(stream, side, a, b, c);
  else
    multiply_halves(stream, side, a, b, c);
}

}  // namespace penstock::gpu_bench
