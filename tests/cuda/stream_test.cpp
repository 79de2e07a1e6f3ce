// SPDX-License-Identifier: Apache-2.0
// Streams of CUDA's as penstock's, and back.
#include "support/catch.hpp"

#include <penstock/emulated_gpu.hpp>
#include <penstock/interop/cuda.hpp>

#include "core/help.hpp"
#include "cuda/handles.hpp"

using namespace help;

TEST_CASE("handle 0 is the default stream that each file is compiled for") {
  const cudaStream_t none = 0;
  CHECK(handles::legacy(none) == cudaStreamLegacy);
  CHECK(handles::per_thread(none) == cudaStreamPerThread);
  CHECK(handles::legacy(none) != handles::per_thread(none));
  // What is said is kept.
  int other = 0;
  const auto own = reinterpret_cast<cudaStream_t>(&other);
  for (const cudaStream_t stream : {cudaStreamLegacy, cudaStreamPerThread, own}) {
    CHECK(handles::legacy(stream) == stream);
    CHECK(handles::per_thread(stream) == stream);
  }
}

TEST_CASE("a stream goes there and back but one of another device does not") {
  int other = 0;
  const auto own = reinterpret_cast<cudaStream_t>(&other);
  CHECK(ps::cuda_stream(ps::StreamRef::of(own, ps::gpu(1))) == own);
  CHECK(ps::cuda_stream(ps::StreamRef::of(cudaStreamPerThread, ps::gpu(0))) == cudaStreamPerThread);
  ps::EmulatedGpu emulated;
  const auto stream = emulated.make_stream("stream");
  for (const ps::StreamRef wrong : {ps::StreamRef(), stream.ref()}) {
    const auto error = error_of([&] { static_cast<void>(ps::cuda_stream(wrong)); });
    REQUIRE(error);
    CHECK(error->code() == ps::Errc::invalid_argument);
    CHECK(error->cause().find(ps::to_string(wrong.device())) != std::string::npos);
  }
}

TEST_CASE("where there is no device a stream is an error in words") {
  if (ps::best_device() != ps::host()) PENSTOCK_SKIP("there is a GPU");
  for (const auto make : {handles::legacy_ref, handles::per_thread_ref}) {
    const auto error = error_of([&] { static_cast<void>(make(0)); });
    REQUIRE(error);
    CHECK(error->code() == ps::Errc::device);
    CHECK(error->cause().find("cudaGetDevice: cudaError") == 0);
  }
}
