// SPDX-License-Identifier: Apache-2.0
// Each wait that holds staging together is needed on a real GPU as well. Without it rows are wrong, and for certain:
// the stream whose work must come first is held up for each batch, much longer than the host needs for all of them, so
// that what does not wait for it comes first. With all waits and the same delays no row is wrong.
#include "support/catch.hpp"

#include <cstdio>

#include <penstock/extend/device_stage.hpp>
#include <penstock/interop/cuda.hpp>

#include "core/delivery/takes_no_more.hpp"
#include "core/device/sabotaged_device.hpp"
#include "cuda/gpu_help.hpp"
#include "device/cuda/cuda.hpp"
#include "device/devices.hpp"

using namespace help;

namespace {

constexpr std::uint64_t rows = 16, steps = 16;
constexpr std::int64_t row_bytes = 64 << 10;
constexpr std::chrono::milliseconds held_up{10};

struct CopyOnGpu {
  void operator()(std::byte* to, const std::byte* from, std::size_t bytes, ps::StreamRef stream) const {
    kernels::copy_bytes(ps::cuda_stream(stream), to, from, bytes);
  }
};

ps::Pipeline stamped(bool stage) {
  const ps::Pipeline p = ps::from(Stamped{steps * rows, row_bytes}) | ps::batch(rows);
  return stage ? p | CopiesRows<CopyOnGpu>{} : p;
}

enum class HeldUp { copies, stages, consumer };

// Counts on the GPU, from 0.
class Counter {
 public:
  Counter() {
    must(cudaMalloc(reinterpret_cast<void**>(&count_), sizeof *count_));
    must(cudaMemset(count_, 0, sizeof *count_));
    must(cudaDeviceSynchronize());  // streams here don't wait for the one of memset
  }
  Counter(const Counter&) = delete;
  Counter& operator=(const Counter&) = delete;
  ~Counter() { static_cast<void>(cudaFree(count_)); }
  unsigned long long* get() const { return count_; }
  unsigned long long value() const {
    unsigned long long value = 0;
    must(cudaDeviceSynchronize());
    must(cudaMemcpy(&value, count_, sizeof value, cudaMemcpyDeviceToHost));
    return value;
  }

 private:
  unsigned long long* count_ = nullptr;
};

// A kernel's first launch may wait for what runs, as its code is brought to the GPU only then.
void bring_kernels() {
  const GpuStream stream;
  const Counter some;
  auto* const bytes = reinterpret_cast<std::byte*>(some.get());
  kernels::delay(stream.handle(), 1us);
  kernels::copy_bytes(stream.handle(), bytes, bytes, 0);
  kernels::check_rows(stream.handle(), bytes, 8, 1, 0, some.get());
  stream.synchronize();
}

unsigned long long wrong_rows_without(Edge without, bool stage, HeldUp late) {
  bring_kernels();
  const auto hold_up = [](ps::StreamRef stream) { kernels::delay(ps::cuda_stream(stream), held_up); };
  SabotagedDevice::Hooks hooks;
  if (late == HeldUp::copies) hooks.before_copy = hold_up;
  if (late == HeldUp::stages) hooks.before_stages = hold_up;
  const auto device = std::make_shared<SabotagedDevice>(penstock::detail::open_cuda(0), without, hooks);
  penstock::detail::register_device(device);
  REQUIRE(penstock::detail::open_device(ps::gpu(0)) == device);
  const Counter wrong;
  const GpuStream stream;
  std::uint64_t got = 0;
  {
    ps::Loader loader(stamped(stage), {.device = ps::gpu(0), .threads = 2, .epochs = 1});
    for (const ps::Batch& batch : loader.epoch(stream.ref())) {
      if (late == HeldUp::consumer) hold_up(stream.ref());
      kernels::check_rows(stream.handle(), batch["x"].data, static_cast<std::size_t>(row_bytes), rows,
                          batch.number() * rows, wrong.get());
      ++got;
    }
  }
  REQUIRE(got == steps);
  if (without != Edge::none) CHECK(device->count(without) > 0);
  return wrong.value();
}

struct Sabotage {
  Edge edge;
  bool stage;
  HeldUp late;
};
constexpr Sabotage sabotages[] = {
    {Edge::pinned_is_free, false, HeldUp::copies}, {Edge::pinned_is_free, true, HeldUp::copies},
    {Edge::copied, true, HeldUp::copies},          {Edge::raw_is_free, true, HeldUp::stages},
    {Edge::ready, false, HeldUp::copies},          {Edge::ready, true, HeldUp::stages},
    {Edge::released, false, HeldUp::consumer},     {Edge::released, true, HeldUp::consumer},
};

}  // namespace

TEST_CASE("a loader on a GPU is right whichever stream is held up") {
  PENSTOCK_NEEDS_GPU();
  const Watchdog watchdog(60s);
  for (const bool stage : {false, true})
    for (const HeldUp late : {HeldUp::copies, HeldUp::stages, HeldUp::consumer})
      if (stage || late != HeldUp::stages) {
        INFO("held up " << static_cast<int>(late) << ", stage " << stage);
        CHECK(wrong_rows_without(Edge::none, stage, late) == 0);
      }
}

TEST_CASE("a loader on a GPU that leaves out one of its waits delivers wrong rows") {
  PENSTOCK_NEEDS_GPU();
  const Watchdog watchdog(60s);
  for (const Sabotage& s : sabotages) {
    const unsigned long long wrong = wrong_rows_without(s.edge, s.stage, s.late);
    const std::string name = to_string(s.edge) + (s.stage ? ", with a stage" : "");
    std::printf("without edge %s: %llu wrong rows of %llu\n", name.c_str(), wrong,
                static_cast<unsigned long long>(rows * steps));
    INFO("edge " << name);
    CHECK(wrong > 0);
  }
}

TEST_CASE("a loader takes memory, streams and events of a GPU at its beginning, and no more in any later epoch") {
  PENSTOCK_NEEDS_GPU();
  const Watchdog watchdog(60s);
  for (const bool stage : {false, true}) {
    const auto device = std::make_shared<CountedDevice>(penstock::detail::open_cuda(0));
    penstock::detail::register_device(device);
    REQUIRE(penstock::detail::open_device(ps::gpu(0)) == device);
    const GpuStream stream;
    check_takes_no_more(*device, stamped(stage), rows * steps, stage ? 2 : 1, stream.ref());
    stream.synchronize();
  }
}
