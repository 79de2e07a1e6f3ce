// SPDX-License-Identifier: Apache-2.0
// What CUDA's codes become.
#include "support/catch.hpp"

#include "core/help.hpp"
#include "device/cuda/cuda_error.hpp"

using namespace help;

TEST_CASE("CUDA's codes become errors that name the call and the code and say its sentence") {
  struct Row {
    cudaError_t code;
    ps::Errc expected;
    const char* name;
  };
  const Row rows[] = {
      {cudaErrorMemoryAllocation, ps::Errc::out_of_memory, "cudaErrorMemoryAllocation (2)"},
      {cudaErrorInvalidValue, ps::Errc::device, "cudaErrorInvalidValue (1)"},
      {cudaErrorCudartUnloading, ps::Errc::device, "cudaErrorCudartUnloading (4)"},
      {cudaErrorInsufficientDriver, ps::Errc::device, "cudaErrorInsufficientDriver (35)"},
      {cudaErrorNoDevice, ps::Errc::device, "cudaErrorNoDevice (100)"},
      {cudaErrorInvalidResourceHandle, ps::Errc::device, "cudaErrorInvalidResourceHandle (400)"},
      {cudaErrorIllegalAddress, ps::Errc::device, "cudaErrorIllegalAddress (700)"},
      {cudaErrorLaunchFailure, ps::Errc::device, "cudaErrorLaunchFailure (719)"},
      {cudaErrorStreamCaptureUnsupported, ps::Errc::device, "cudaErrorStreamCaptureUnsupported (900)"},
  };
  for (const Row& row : rows) {
    const auto error = error_of([&] { ps::detail::check_cuda(row.code, "cudaCall"); });
    REQUIRE(error);
    CHECK(error->code() == row.expected);
    const std::string expected =
        std::string("cudaCall: ") + row.name + ": " + cudaGetErrorString(row.code) +
        (row.expected == ps::Errc::out_of_memory ? "; lower `device_depth`, `depth` or the batch size" : "");
    CHECK(error->cause() == expected);
    CHECK_FALSE(error->sample_scoped());
  }
  CHECK_FALSE(error_of([] { ps::detail::check_cuda(cudaSuccess, "cudaCall"); }));
}

TEST_CASE("what a capture refuses is told from what ends a context") {
  for (const cudaError_t code : {cudaErrorStreamCaptureUnsupported, cudaErrorStreamCaptureInvalidated,
                                 cudaErrorStreamCaptureImplicit, cudaErrorCapturedEvent})
    CHECK(ps::detail::refused_for_capture(code));
  for (const cudaError_t code : {cudaSuccess, cudaErrorInvalidValue, cudaErrorIllegalAddress, cudaErrorLaunchFailure,
                                 cudaErrorInvalidResourceHandle, cudaErrorUnknown})
    CHECK_FALSE(ps::detail::refused_for_capture(code));
}

TEST_CASE("memory that can't be pinned is told from a GPU that fails") {
  for (const cudaError_t code : {cudaErrorMemoryAllocation, cudaErrorNotSupported, cudaErrorNotPermitted})
    CHECK(ps::detail::cannot_pin(code));
  for (const cudaError_t code : {cudaSuccess, cudaErrorInvalidValue, cudaErrorIllegalAddress, cudaErrorNoDevice})
    CHECK_FALSE(ps::detail::cannot_pin(code));
}

TEST_CASE("memory that is not there is asked for once more after room was made") {
  for (const cudaError_t first : {cudaSuccess, cudaErrorMemoryAllocation, cudaErrorInvalidValue})
    for (const cudaError_t second : {cudaSuccess, cudaErrorMemoryAllocation}) {
      std::string calls;
      const cudaError_t code = ps::detail::with_second_try(
          [&] {
            calls += "take ";
            return calls == "take " ? first : second;
          },
          [&] { calls += "room "; });
      const bool again = first == cudaErrorMemoryAllocation;
      CHECK(code == (again ? second : first));
      CHECK(calls == (again ? "take room take " : "take "));
    }
}

TEST_CASE("an error that was told of is not told of again") {
  if (ps::best_device() == ps::host()) PENSTOCK_SKIP("without a driver every call fails: there is nothing to forget");
  CHECK(error_of([] { ps::detail::check_cuda(cudaSetDevice(-1), "cudaSetDevice"); }));
  CHECK(cudaGetLastError() == cudaSuccess);
}
