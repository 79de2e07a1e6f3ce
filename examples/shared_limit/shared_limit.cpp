// SPDX-License-Identifier: Apache-2.0
// A training loader and a validation loader use one small device. A limit that they share leaves the rest of the memory
// to other code. Also shows what happens when there is no memory left. The device is emulated and has 1 MiB, so that
// the result is the same everywhere. To use a real GPU, only replace the device by `gpu(0)`.
#include <cstdint>
#include <cstdio>
#include <vector>

#include <penstock/emulated_gpu.hpp>
#include <penstock/memory.hpp>
#include <penstock/penstock.hpp>

namespace ps = penstock;

namespace {

constexpr std::size_t on_device = ps::MiB(1);

// A source whose batches of 16 have 64 KiB.
struct Records {
  std::uint64_t count;
  std::uint64_t size() const { return count; }
  ps::Schema schema() const { return {{"x", ps::DType::f32, {1024}}}; }
  void read(std::uint64_t i, ps::SampleBuilder& out) const {
    for (float& v : out.emplace<float, 1>("x", {1024})) v = static_cast<float>(i);
  }
};

bool failed = false;
void expect(bool condition, const char* what) {
  if (condition) return;
  std::printf("NOT SO: %s\n", what);
  failed = true;
}

// Returns the code of the error with which the loader's constructor refuses these options.
ps::Errc refused(const ps::Pipeline& pipeline, const ps::LoaderOptions& options) {
  try {
    const ps::Loader loader(pipeline, options);
  } catch (const ps::Error& error) {
    std::printf("  refused: %s\n", error.what());
    return error.code();
  }
  return ps::Errc::closed;
}

// Sums an epoch on the device, with one kernel per batch.
double epoch(ps::Loader& loader, ps::EmulatedGpu::Stream& stream) {
  double sum = 0;
  for (const ps::Batch& batch : loader.epoch(stream.ref())) {
    const ps::TensorView x = batch["x"];
    stream.launch("sum",
                  [x, &sum] {
                    for (const float v : x.as<float, 2>()) sum += static_cast<double>(v);
                  },
                  {{x.data, x.bytes(), false}});
  }
  stream.synchronize();
  return sum;
}

}  // namespace

int main() {
  ps::EmulatedGpu gpu({.checked = true, .max_device_bytes = on_device});
  auto stream = gpu.make_stream("consumer");
  const auto train = ps::from(Records{160}) | ps::shuffle() | ps::batch(16);
  const auto held_out = ps::from(Records{64}) | ps::batch(16);

  std::puts("1. A limit that not even two batches fit is told at once, with what they need:");
  expect(refused(train, {.device = gpu.device(), .max_device_bytes = ps::KiB(100)}) == ps::Errc::out_of_memory,
         "100 KiB are too few");

  std::puts("2. Without limits, who comes first may leave too little:");
  {
    const ps::Loader greedy(train, {.device = gpu.device(), .device_depth = 15});
    std::printf("  one loader took %zu of %zu KiB\n", gpu.device_bytes_used() >> 10, on_device >> 10);
    expect(refused(held_out, {.device = gpu.device()}) == ps::Errc::out_of_memory, "1,024 - 960 KiB are too few");
  }

  std::puts("3. Under one limit both fit, and what they don't take is left to others:");
  const auto memory = ps::device_memory(gpu.device());
  ps::LimitResource limit(*memory, ps::KiB(768));  // must outlive the loaders
  ps::Loader training(train, {.device = gpu.device(),
                              .device_depth = 64,  // as deep as the limit allows
                              .growth = ps::Growth::on_demand,
                              .device_resource = &limit});
  ps::Loader testing(held_out, {.device = gpu.device(), .device_resource = &limit});
  std::printf("  both took %zu KiB\n", gpu.device_bytes_used() >> 10);
  for (int e = 0; e < 3; ++e) {
    const double fit = epoch(training, stream), tested = epoch(testing, stream);
    expect(fit == 1024.0 * 160 * 159 / 2 && tested == 1024.0 * 64 * 63 / 2, "every record counts once");
  }
  expect(limit.used() == gpu.device_bytes_used() && limit.used() <= limit.limit(), "the limit holds");

  std::puts("4. A loader that grows on demand takes more only for a caller who holds on to batches, up to its limit:");
  const std::size_t before = gpu.device_bytes_used();
  {
    std::vector<ps::Batch> held;
    try {
      while (auto batch = training.next(stream.ref())) held.push_back(std::move(*batch));
      expect(false, "10 batches are more than the limit allows");
    } catch (const ps::Error& error) {
      std::printf("  %zu batches held, then: %s\n", held.size(), error.what());
      expect(error.code() == ps::Errc::leases_exhausted, "all batches that the limit allows are held");
    }
    std::printf("  from %zu to %zu KiB\n", before >> 10, gpu.device_bytes_used() >> 10);
    expect(gpu.device_bytes_used() > before && limit.used() <= limit.limit(), "it grew to its limit");
  }
  // The held batches have been released. The next call delivers the batch that could not be delivered before.
  std::size_t rest = 0;
  while (training.next(stream.ref())) ++rest;
  std::printf("  and the epoch goes on: %zu batches more\n", rest);
  expect(rest > 0, "the epoch goes on");
  for (const auto& finding : gpu.findings()) expect(false, finding.c_str());
  return failed ? 1 : 0;
}
