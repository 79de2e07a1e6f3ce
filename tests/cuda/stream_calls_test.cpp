// SPDX-License-Identifier: Apache-2.0
// What a stream is asked when it becomes penstock's: nothing that would spoil the graph it is captured into.
#include "support/catch.hpp"

#include <string>
#include <vector>

#include <cuda_runtime_api.h>

#include <penstock/emulated_gpu.hpp>

#include "core/help.hpp"

namespace {

std::vector<std::string> asked;
cudaStreamCaptureStatus capture_status = cudaStreamCaptureStatusNone;
cudaError_t capture_answer = cudaSuccess;

cudaError_t told_capturing(cudaStream_t, cudaStreamCaptureStatus* status) {
  asked.emplace_back("captured?");
  *status = capture_status;
  return capture_answer;
}
cudaError_t told_device(cudaStream_t, int* device) {
  asked.emplace_back("device?");
  *device = 3;
  return cudaSuccess;
}

}  // namespace

// The header, on these answers, under a name of its own beside the real one.
// NOLINTBEGIN(readability-identifier-naming): CUDA's
#define cudaStreamIsCapturing told_capturing
#define cudaStreamGetDevice told_device
#define legacy_default_stream told_stream
// NOLINTEND(readability-identifier-naming)
#include <penstock/interop/cuda.hpp>

using namespace help;
using Asked = std::vector<std::string>;

TEST_CASE("a stream that is being captured is asked for no device but refused as a loader refuses it") {
  int other = 0;
  const auto own = reinterpret_cast<cudaStream_t>(&other);
  const auto ref = [&] {
    asked.clear();
    return ps::told_stream::stream_ref(own);
  };
  CHECK(ref().device() == ps::gpu(3));
  CHECK(asked == Asked{"captured?", "device?"});
  ps::EmulatedGpu emulated;
  auto stream = emulated.make_stream("stream");
  ps::Loader loader(ps::from(Records{.count = 8}) | ps::batch(4), {.device = emulated.device(), .threads = 1});
  stream.begin_capture();
  const auto of_loader = error_of([&] { static_cast<void>(loader.next(stream.ref())); });
  REQUIRE(of_loader);
  for (const auto status : {cudaStreamCaptureStatusActive, cudaStreamCaptureStatusInvalidated}) {
    capture_status = status;
    const auto error = error_of([&] { static_cast<void>(ref()); });
    REQUIRE(error);
    CHECK(error->code() == of_loader->code());
    CHECK(error->cause() == of_loader->cause());
    CHECK(asked == Asked{"captured?"});
  }
  capture_status = cudaStreamCaptureStatusNone;
  capture_answer = cudaErrorInvalidResourceHandle;
  const auto error = error_of([&] { static_cast<void>(ref()); });
  REQUIRE(error);
  CHECK(error->code() == ps::Errc::device);
  CHECK(error->cause().find("cudaStreamIsCapturing: cudaErrorInvalidResourceHandle") == 0);
  CHECK(asked == Asked{"captured?"});
}
