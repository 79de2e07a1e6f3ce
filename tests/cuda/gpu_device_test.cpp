// The device itself: who has it, and what a thread had chosen before.
#include "support/catch.hpp"

#include "cuda/gpu_help.hpp"
#include "device/devices.hpp"

using namespace help;
using ps::detail::DeviceModel;

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
        const ps::detail::Entered entered(*model);
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

TEST_CASE("an event is reached when what is before it is done and one that was never recorded at once") {
  PENSTOCK_NEEDS_GPU();
  const Watchdog watchdog(60s);
  const auto model = ps::detail::open_device(ps::gpu(0));
  const ps::detail::Entered entered(*model);
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
