// SPDX-License-Identifier: Apache-2.0
#include "cublas.hpp"

#include <dlfcn.h>
#include <library_types.h>

#include <stdexcept>

namespace penstock::gpu_bench {

namespace {

// Constants and function types of cublas_v2.h, so that the build needs neither that header nor the library. Enumerators
// are passed as int.
constexpr int op_n = 0, compute_32f = 68, gemm_default = -1;
using Create = int (*)(void** handle);
using Destroy = int (*)(void* handle);
using SetStream = int (*)(void* handle, cudaStream_t stream);
using GemmEx = int (*)(void* handle, int op_a, int op_b, int m, int n, int k, const void* alpha, const void* a,
                       cudaDataType type_a, int lda, const void* b, cudaDataType type_b, int ldb, const void* beta,
                       void* c, cudaDataType type_c, int ldc, int compute, int algorithm);
using StatusString = const char* (*)(int status);

struct CublasLibrary {
  std::string name;  // the name of the library, or why it could not be loaded
  Create create = nullptr;
  Destroy destroy = nullptr;
  SetStream set_stream = nullptr;
  GemmEx gemm = nullptr;
  StatusString words = nullptr;
  bool found() const noexcept { return gemm != nullptr; }
};

template <class F>
F symbol_of(void* library, const char* name) {
  return reinterpret_cast<F>(::dlsym(library, name));
}

CublasLibrary open_cublas() {
  CublasLibrary out;
  for (const char* const file : {"libcublas.so.13", "/usr/local/cuda/lib64/libcublas.so.13", "libcublas.so.12",
                                 "/usr/local/cuda/lib64/libcublas.so.12"}) {
    void* const library = ::dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) continue;
    out.create = symbol_of<Create>(library, "cublasCreate_v2");
    out.destroy = symbol_of<Destroy>(library, "cublasDestroy_v2");
    out.set_stream = symbol_of<SetStream>(library, "cublasSetStream_v2");
    out.gemm = symbol_of<GemmEx>(library, "cublasGemmEx");
    out.words = symbol_of<StatusString>(library, "cublasGetStatusString");
    out.name = file;
    if (out.create != nullptr && out.destroy != nullptr && out.set_stream != nullptr && out.gemm != nullptr &&
        out.words != nullptr)
      return out;
    out = {};
    ::dlclose(library);
  }
  out.name = "no cuBLAS on this machine: a kernel of this program's own, which is slower";
  return out;
}

// Never closed, because the library's threads and memory outlive the calls to it.
const CublasLibrary& cublas() {
  static const CublasLibrary library = open_cublas();
  return library;
}

void must_cublas(int status, const char* call) {
  if (status != 0) throw std::runtime_error(std::string(call) + ": " + cublas().words(status));
}

}  // namespace

Cublas::Cublas() {
  if (cublas().found()) must_cublas(cublas().create(&handle_), "cublasCreate");
}

Cublas::~Cublas() {
  if (found()) static_cast<void>(cublas().destroy(handle_));
}

std::string Cublas::name() { return cublas().name; }

void Cublas::multiply(cudaStream_t stream, int side, const void* a, const void* b, void* c) const {
  const float one = 1, none = 0;
  must_cublas(cublas().set_stream(handle_, stream), "cublasSetStream");
  must_cublas(cublas().gemm(handle_, op_n, op_n, side, side, side, &one, a, CUDA_R_16F, side, b, CUDA_R_16F, side,
                            &none, c, CUDA_R_16F, side, compute_32f, gemm_default),
              "cublasGemmEx");
}

}  // namespace penstock::gpu_bench
