// SPDX-License-Identifier: Apache-2.0
// The device itself: who has it, and what a thread had chosen before.
#include "support/catch.hpp"

#include <cudaTypedefs.h>

#include "cuda/gpu_help.hpp"
#include "device/devices.hpp"

using namespace help;
using ps::detail::DeviceModel;

namespace {

// A function of the driver's.
template <class Function>
Function driver_call(const char* name, unsigned version) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result = cudaDriverEntryPointSymbolNotFound;
  must(cudaGetDriverEntryPointByVersion(name, &found, version, cudaEnableDefault, &result));
  REQUIRE(found != nullptr);
  return reinterpret_cast<Function>(found);
}

}  // namespace

TEST_CASE("a GPU is opened once and shared and gone with the last who has it") {
  PENSTOCK_NEEDS_GPU();
  const auto first = ps::detail::open_device(ps::gpu(0)), second = ps::detail::open_device(ps::gpu(0));
  CHECK(first == second);
  CHECK(first->device() == ps::gpu(0));
  std::weak_ptr<DeviceModel> left = first;
  const_cast<std::shared_ptr<DeviceModel>&>(first).reset();
  const_cast<std::shared_ptr<DeviceModel>&>(second).reset();
  CHECK(left.expired());
}

TEST_CASE("a GPU that is not there is refused with those that are") {
  PENSTOCK_NEEDS_GPU();
  for (const int index : {-1, 1000}) {
    const auto error = error_of([&] { static_cast<void>(ps::detail::open_device(ps::gpu(index))); });
    REQUIRE(error);
    CHECK(error->code() == ps::Errc::unsupported);
    CHECK(error->cause().find("there is no " + ps::to_string(ps::gpu(index)) + "; there ") == 0);
    CHECK(error->cause().find("gpu(0)") != std::string::npos);
  }
}

TEST_CASE("a thread's device and its capture mode are after a call what they were before") {
  PENSTOCK_NEEDS_GPU();
  int count = 0, device = -1;
  must(cudaGetDeviceCount(&count));
  const auto model = ps::detail::open_device(ps::gpu(0));
  for (int chosen = 0; chosen < count; ++chosen)
    for (const auto mode :
         {cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal, cudaStreamCaptureModeRelaxed}) {
      must(cudaSetDevice(chosen));
      cudaStreamCaptureMode is = mode;
      must(cudaThreadExchangeStreamCaptureMode(&is));
      {
        const ps::detail::DeviceGuard entered(*model);
        must(cudaGetDevice(&device));
        CHECK(device == 0);
        is = cudaStreamCaptureModeRelaxed;
        must(cudaThreadExchangeStreamCaptureMode(&is));
        CHECK(is == cudaStreamCaptureModeRelaxed);
      }
      must(cudaGetDevice(&device));
      CHECK(device == chosen);
      is = cudaStreamCaptureModeGlobal;
      must(cudaThreadExchangeStreamCaptureMode(&is));
      CHECK(is == mode);
    }
}

TEST_CASE("a thread that never used CUDA has no context after calls of a loader") {
  PENSTOCK_NEEDS_GPU();
  const Watchdog watchdog(60s);
  const auto current = driver_call<PFN_cuCtxGetCurrent_v4000>("cuCtxGetCurrent", 4000);
  const GpuStream stream;
  const ps::StreamRef ref = stream.ref();
  // A stranger's own context is what it was, too.
  for (const bool stranger : {false, true}) {
    CUcontext before = nullptr, inside = nullptr, after = nullptr;
    bool asked = true;
    std::jthread([&] {
      if (stranger) static_cast<void>(cudaSetDevice(0));
      asked = current(&before) == CUDA_SUCCESS;
      {
        ps::Loader loader(wide_records(), {.device = ps::gpu(0), .threads = 1});
        asked = current(&inside) == CUDA_SUCCESS && asked;
        std::optional<ps::Batch> batch = loader.next(ref);
        batch.reset();
        batch = loader.next();  // the host's stream
      }
      asked = current(&after) == CUDA_SUCCESS && asked;
    }).join();
    CHECK(asked);
    CHECK((before != nullptr) == stranger);
    CHECK(inside == before);
    CHECK(after == before);
  }
}

TEST_CASE("a loader of one GPU makes no context on another") {
  PENSTOCK_NEEDS_GPU();
  const Watchdog watchdog(60s);
  int count = 0;
  must(cudaGetDeviceCount(&count));
  if (count < 2) PENSTOCK_SKIP("there is one GPU");
  const auto state = driver_call<PFN_cuDevicePrimaryCtxGetState_v7000>("cuDevicePrimaryCtxGetState", 7000);
  const auto active = [&] {
    unsigned flags = 0;
    int is = 0;
    CHECK(state(0, &flags, &is) == CUDA_SUCCESS);
    return is;
  };
  const int before = active();  // not, where this test has a process of its own
  std::size_t batches = 0;
  std::jthread([&] {
    ps::Loader loader(wide_records(), {.device = ps::gpu(count - 1), .threads = 1});
    while (loader.next()) ++batches;
  }).join();
  CHECK(batches == 15);
  CHECK(active() == before);
}

TEST_CASE("an event is reached when what is before it is done and one that was never recorded at once") {
  PENSTOCK_NEEDS_GPU();
  const Watchdog watchdog(60s);
  const auto model = ps::detail::open_device(ps::gpu(0));
  const ps::detail::DeviceGuard entered(*model);
  const auto stream = model->make_stream("stream", DeviceModel::Priority::high);
  const auto event = model->make_event();
  CHECK(model->reached(*event));
  model->synchronize(*event);
  kernels::delay(static_cast<cudaStream_t>(stream->ref().handle()), 500ms);
  model->record(*event, stream->ref());
  CHECK_FALSE(model->reached(*event));
  CHECK(cudaGetLastError() == cudaSuccess);  // "not yet" is no error
  model->synchronize(*event);
  CHECK(model->reached(*event));
}

TEST_CASE("a timer tells what lies between two points of a stream and nothing before that is done") {
  PENSTOCK_NEEDS_GPU();
  const Watchdog watchdog(60s);
  const auto model = ps::detail::open_device(ps::gpu(0));
  const ps::detail::DeviceGuard entered(*model);
  const auto stream = model->make_stream("stream", DeviceModel::Priority::high);
  const auto handle = static_cast<cudaStream_t>(stream->ref().handle());
  const auto timer = model->make_timer();
  REQUIRE(timer != nullptr);
  kernels::delay(handle, 200ms);  // before the first point: not counted
  timer->begin(stream->ref());
  kernels::delay(handle, 100ms);
  timer->end(stream->ref());
  CHECK_FALSE(timer->read().has_value());
  CHECK(cudaGetLastError() == cudaSuccess);
  model->synchronize(stream->ref());
  const std::optional<std::uint64_t> ns = timer->read();
  REQUIRE(ns.has_value());
  CHECK(*ns > 95'000'000);
  CHECK(*ns < 180'000'000);
  // Once more, it is another stretch.
  timer->begin(stream->ref());
  timer->end(stream->ref());
  model->synchronize(stream->ref());
  REQUIRE(timer->read().has_value());
  CHECK(*timer->read() < 1'000'000);
}
