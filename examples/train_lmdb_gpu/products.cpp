// SPDX-License-Identifier: Apache-2.0
#include "products.hpp"

#include <dlfcn.h>

#include <stdexcept>
#include <string>

#include "kernels.hpp"

namespace {

// Constants and function types of cublas_v2.h, so that the build needs neither that header nor the library. Enumerators
// are passed as int.
constexpr int op_n = 0, op_t = 1;
using Create = int (*)(void** handle);
using Destroy = int (*)(void* handle);
using SetStream = int (*)(void* handle, cudaStream_t stream);
using Sgemm = int (*)(void* handle, int op_a, int op_b, int m, int n, int k, const float* alpha, const float* a,
                      int lda, const float* b, int ldb, const float* beta, float* c, int ldc);

struct CublasLibrary {
  Create create = nullptr;
  Destroy destroy = nullptr;
  SetStream set_stream = nullptr;
  Sgemm gemm = nullptr;
};

CublasLibrary open_cublas() {
  for (const char* const file : {"libcublas.so.13", "/usr/local/cuda/lib64/libcublas.so.13", "libcublas.so.12",
                                 "/usr/local/cuda/lib64/libcublas.so.12"}) {
    void* const library = ::dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) continue;
    const CublasLibrary out{reinterpret_cast<Create>(::dlsym(library, "cublasCreate_v2")),
                            reinterpret_cast<Destroy>(::dlsym(library, "cublasDestroy_v2")),
                            reinterpret_cast<SetStream>(::dlsym(library, "cublasSetStream_v2")),
                            reinterpret_cast<Sgemm>(::dlsym(library, "cublasSgemm_v2"))};
    if (out.create != nullptr && out.destroy != nullptr && out.set_stream != nullptr && out.gemm != nullptr) return out;
    ::dlclose(library);
  }
  return {};
}

// Never closed, because the library's threads and memory outlive the calls to it.
const CublasLibrary& cublas() {
  static const CublasLibrary library = open_cublas();
  return library;
}

void must_cublas(int status, const char* call) {
  if (status != 0) throw std::runtime_error(std::string(call) + ": cuBLAS's error " + std::to_string(status));
}

}  // namespace

Products::Products(cudaStream_t stream, MatrixProducts by) : stream_(stream) {
  if (by == MatrixProducts::plain_kernel || cublas().gemm == nullptr) return;
  must_cublas(cublas().create(&cublas_), "cublasCreate");
  const int status = cublas().set_stream(cublas_, stream);
  if (status != 0) static_cast<void>(cublas().destroy(cublas_));
  must_cublas(status, "cublasSetStream");
}

Products::~Products() {
  if (cublas_ != nullptr) static_cast<void>(cublas().destroy(cublas_));
}

// cuBLAS stores matrices by columns, so it sees each matrix here as its transpose. So it is asked for b^T * a^T.
void Products::multiply(bool transpose_a, bool transpose_b, std::size_t m, std::size_t n, std::size_t k, const float* a,
                        const float* b, float* to) const {
  if (cublas_ == nullptr) return kernels::multiply(stream_, transpose_a, transpose_b, m, n, k, a, b, to);
  const float one = 1, none = 0;
  const auto number = [](std::size_t v) { return static_cast<int>(v); };
  must_cublas(
      cublas().gemm(cublas_, transpose_b ? op_t : op_n, transpose_a ? op_t : op_n, number(n), number(m), number(k),
                    &one, b, number(transpose_b ? k : n), a, number(transpose_a ? m : k), &none, to, number(n)),
      "cublasSgemm");
}
