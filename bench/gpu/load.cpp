#include "load.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "kernels.hpp"

namespace penstock::gpu_bench {

namespace {

constexpr int max_side = 4096, min_side = 1024;
constexpr std::size_t matrix_bytes = std::size_t{max_side} * max_side * 2;
constexpr std::size_t traffic_bytes = std::size_t{256} << 20;

void must_cublas(cublasStatus_t status, const char* call) {
  if (status != CUBLAS_STATUS_SUCCESS)
    throw std::runtime_error(std::string(call) + ": " + cublasGetStatusName(status) + ": " +
                             cublasGetStatusString(status));
}

}  // namespace

Load::Load(Sort sort) : sort_(sort), memory_(Kind::device, sort == Sort::gemm ? 3 * matrix_bytes : traffic_bytes) {
  if (sort != Sort::gemm) return;
  // A stream of its own, as the default one may be anybody's.
  const CudaStream stream;
  fill_halves(stream.handle(), memory_.data(), 2 * matrix_bytes / 2, 1);
  stream.synchronize();
  must_cublas(cublasCreate(&cublas_), "cublasCreate");
  side_ = max_side;
}

Load::~Load() {
  if (cublas_ != nullptr) static_cast<void>(cublasDestroy(cublas_));
}

void Load::take(double seconds, const CudaStream& stream, int parts, bool below) {
  constexpr int times = 20;
  double each = 0;
  warm(stream);
  for (side_ = max_side;; side_ /= 2) {
    each = time_on(stream, times, [&] { enqueue_piece(stream.handle()); }) / times;
    if (sort_ != Sort::gemm || side_ == min_side || each * parts <= seconds) break;
  }
  const double wanted = seconds / each;
  pieces_ = std::max(1, static_cast<int>(below ? std::floor(wanted) : std::round(wanted)));
}

void Load::enqueue(cudaStream_t stream) const {
  for (int i = 0; i < pieces_; ++i) enqueue_piece(stream);
}

void Load::warm(const CudaStream& stream) const {
  constexpr double seconds = 0.3;
  constexpr int at_a_time = 8;
  for (const double end = wall_seconds() + seconds; wall_seconds() < end; stream.synchronize())
    for (int i = 0; i < at_a_time; ++i) enqueue_piece(stream.handle());
}

void Load::enqueue_piece(cudaStream_t stream) const {
  if (sort_ == Sort::memory) return add_one(stream, memory_.as<float>(), traffic_bytes / sizeof(float));
  const float one = 1, none = 0;
  const std::byte* const a = memory_.data();
  const std::byte* const b = a + matrix_bytes;
  std::byte* const c = memory_.data() + 2 * matrix_bytes;
  must_cublas(cublasSetStream(cublas_, stream), "cublasSetStream");
  must_cublas(cublasGemmEx(cublas_, CUBLAS_OP_N, CUBLAS_OP_N, side_, side_, side_, &one, a, CUDA_R_16F, side_, b,
                           CUDA_R_16F, side_, &none, c, CUDA_R_16F, side_, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
              "cublasGemmEx");
}

}  // namespace penstock::gpu_bench
