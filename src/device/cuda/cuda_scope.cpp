// SPDX-License-Identifier: Apache-2.0
#include "cuda_scope.hpp"

#include <map>
#include <mutex>
#include <string>

#include <cudaTypedefs.h>

#include "cuda_error.hpp"

namespace penstock::detail {

namespace {

// Functions of the driver, because the runtime has no functions for contexts. They are looked up at run time, because a
// machine may have no driver.
struct ContextCalls {
  PFN_cuDeviceGet_v2000 device_get;
  PFN_cuDevicePrimaryCtxRetain_v7000 retain;
  PFN_cuDevicePrimaryCtxGetState_v7000 state;
  PFN_cuCtxPushCurrent_v4000 push;
  PFN_cuCtxPopCurrent_v4000 pop;
  PFN_cuThreadExchangeStreamCaptureMode_v10010 exchange_mode;
};

template <class Function>
void look_up(const char* name, unsigned version, Function& function) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result = cudaDriverEntryPointSymbolNotFound;
  check_cuda(cudaGetDriverEntryPointByVersion(name, &found, version, cudaEnableDefault, &result),
             "cudaGetDriverEntryPointByVersion");
  if (result != cudaDriverEntryPointSuccess || found == nullptr)
    throw Error(Errc::device, std::string("the driver has no ") + name + ": update NVIDIA's driver");
  function = reinterpret_cast<Function>(found);
}

const ContextCalls& context_calls() {
  static const ContextCalls all = [] {
    ContextCalls c = {};
    look_up("cuDeviceGet", 2000, c.device_get);
    look_up("cuDevicePrimaryCtxRetain", 7000, c.retain);
    look_up("cuDevicePrimaryCtxGetState", 7000, c.state);
    look_up("cuCtxPushCurrent", 4000, c.push);
    look_up("cuCtxPopCurrent", 4000, c.pop);
    look_up("cuThreadExchangeStreamCaptureMode", 10010, c.exchange_mode);
    return c;
  }();
  return all;
}

// The driver and the runtime use the same error numbers.
void check_driver(CUresult code, const char* call) {
  if (code != CUDA_SUCCESS) throw cuda_error(static_cast<cudaError_t>(code), call);
}

struct PrimaryContexts {
  std::mutex mutex;
  std::map<int, CUcontext> known;
};

PrimaryContexts& primary_contexts() {
  static PrimaryContexts& all =
      *new PrimaryContexts;  // never destroyed, because loaders in static storage may still enter GPUs
  return all;
}

CUcontext primary_context(int index) {
  PrimaryContexts& all = primary_contexts();
  const std::lock_guard lock(all.mutex);
  return all.known.at(index);
}

}  // namespace

// The context is never released. If its last user released it, everything that the runtime and other code have in it
// would be gone.
void open_cuda_context(int index) {
  const ContextCalls& calls = context_calls();
  CUdevice device = 0;
  check_driver(calls.device_get(&device, index), "cuDeviceGet");
  PrimaryContexts& all = primary_contexts();
  const std::lock_guard lock(all.mutex);
  // Other code may have reset the GPU since the context was opened. Then the context must be opened again.
  unsigned flags = 0;
  int active = 0;
  if (all.known.contains(index)) check_driver(calls.state(device, &flags, &active), "cuDevicePrimaryCtxGetState");
  if (active != 0) return;
  CUcontext& context = all.known[index];
  const CUresult code = calls.retain(&context, device);
  if (code != CUDA_SUCCESS) all.known.erase(index);
  check_driver(code, "cuDevicePrimaryCtxRetain");
}

int enter_cuda(int index) {
  const ContextCalls& calls = context_calls();
  check_driver(calls.push(primary_context(index)), "cuCtxPushCurrent");
  // In any mode except `RELAXED`, a call that may wait could spoil a graph that this or another thread is capturing.
  // The mode belongs to the thread, not to the context. The mode is set after the context is pushed, because without a
  // current context, `exchange_mode` might create a context.
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  const CUresult code = calls.exchange_mode(&mode);
  if (code != CUDA_SUCCESS) {
    CUcontext popped = nullptr;
    static_cast<void>(calls.pop(&popped));
    check_driver(code, "cuThreadExchangeStreamCaptureMode");
  }
  return static_cast<int>(mode);
}

// While the process ends, or if the context is gone, these calls fail. Then there is nothing to restore.
void leave_cuda(int before) noexcept {
  const ContextCalls& calls = context_calls();
  auto mode = static_cast<CUstreamCaptureMode>(before);
  static_cast<void>(calls.exchange_mode(&mode));
  CUcontext popped = nullptr;
  static_cast<void>(calls.pop(&popped));
}

}  // namespace penstock::detail
