// SPDX-License-Identifier: Apache-2.0
// 9. Nothing grows in many short epochs, or with many loaders that end in the middle of an epoch.
//
// Memory is counted where loaders take it. The kernel does not count what the driver pins, so VmLck and VmPin stay 0.
#include <algorithm>
#include <fstream>
#include <memory>
#include <optional>
#include <string>

#include <penstock/memory.hpp>
#include <penstock/testing/statistics_resource.hpp>

#include "../batches.hpp"
#include "../steps.hpp"

namespace penstock::gpu_bench {

namespace {

// Returns the value of a line of /proc/self/status, in bytes.
double status_bytes(const std::string& key) {
  std::ifstream file("/proc/self/status");
  std::string line;
  while (std::getline(file, line))
    if (line.starts_with(key + ":")) return 1024 * std::stod(line.substr(key.size() + 1));
  return 0;
}

// Counts the GPU's device memory and pinned memory that loaders have.
struct Counted {
  std::shared_ptr<MemoryResource> device = device_memory(gpu(0)), pinned = pinned_memory(gpu(0));
  testing::StatisticsResource device_counter{*device}, pinned_counter{*pinned};
};

struct Used {
  double device, resident;
  std::size_t counted_device, counted_pinned;
  std::uint64_t blocks;
};

Used used_now(const Counted& counted) {
  std::size_t free = 0, total = 0;
  must(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  must(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
  return {static_cast<double>(total - free), status_bytes("VmRSS"), counted.device_counter.used(),
          counted.pinned_counter.used(), counted.device_counter.allocations() + counted.pinned_counter.allocations()};
}

void tell_growth(Results& results, const std::string& name, double before, double after, double max_mebi) {
  constexpr double mebi = 1024.0 * 1024;
  results.raw()["stability"][name] = {before, after};
  results.add({.name = name,
               .ours = (after - before) / mebi,
               .against = before / mebi,
               .ratio = (after - before) / mebi / max_mebi,
               .unit = "MiB",
               .gate = Gate::at_most,
               .bound = 1,
               .of_speed = false});
}

// The allowed growth has room for pages that a driver and an allocator take.
void tell_of_process(Results& results, const std::string& what, const Used& before, const Used& after) {
  tell_growth(results, what + ": growth, GPU memory", before.device, after.device, 8);
  tell_growth(results, what + ": growth, VmRSS", before.resident, after.resident, 32);
}

void tell_none(Results& results, const std::string& name, double count, const std::string& unit) {
  results.raw()["stability"][name] = count;
  results.add({.name = name,
               .ours = count,
               .ratio = count,
               .unit = unit,
               .gate = Gate::at_most,
               .bound = 0,
               .of_speed = false});
}

}  // namespace

void stability(Results& results, const Settings& settings) {
  results.begin(9, "stability");
  const BatchSize size{.rows = 8, .row_bytes = 64 << 10};
  const CudaStream stream;
  const Memory wrong(Kind::device, 8);
  const Pipeline pipeline = from(Stamped{.count = 24 * size.rows, .row_bytes = size.row_bytes}) | batch(size.rows);
  const Executor executor(2);
  Counted counted;
  const LoaderOptions options{.device = gpu(0),
                              .executor = executor,
                              .device_resource = &counted.device_counter,
                              .host_memory = &counted.pinned_counter};
  {
    Loader loader(pipeline, options);
    const auto epoch = [&] {
      static_cast<void>(time_loader(loader, stream, size, nullptr, wrong.as<unsigned long long>()));
    };
    for (int i = 0; i < 5; ++i) epoch();
    const Used before = used_now(counted);
    const std::uint64_t allocations = loader.report().batch_allocations;
    for (int i = 0; i < 50; ++i) epoch();
    const Used after = used_now(counted);
    tell_of_process(results, "50 epochs", before, after);
    tell_none(results, "50 epochs: blocks allocated for batches",
              static_cast<double>(loader.report().batch_allocations - allocations), "blocks");
    tell_none(results, "50 epochs: pinned and device allocations", static_cast<double>(after.blocks - before.blocks),
              "blocks");
    // The control: counters that count nothing would also stay at 0.
    results.add({.name = "pinned and device memory that is counted / what batches need",
                 .ours = static_cast<double>(std::min(after.counted_device, after.counted_pinned)),
                 .against = 2.0 * static_cast<double>(size.bytes()),
                 .unit = "bytes",
                 .gate = Gate::at_least,
                 .bound = 1,
                 .of_speed = false});
  }
  const auto cut_short = [&](int times) {
    for (int i = 0; i < times; ++i) {
      std::optional<Batch> kept;
      Loader loader(pipeline, options);
      int left = i % 11;
      for (Batch& batch : loader.epoch(stream.ref())) {
        if (left-- > 0) continue;
        if (i % 3 == 0) kept = std::move(batch);  // a batch that outlives its loader
        break;
      }
    }
  };
  cut_short(20);
  const Used before = used_now(counted);
  cut_short(settings.quick ? 40 : 200);
  const Used after = used_now(counted);
  tell_of_process(results, "loaders cut short", before, after);
  tell_none(results, "loaders cut short: pinned and device memory left",
            static_cast<double>(after.counted_device + after.counted_pinned), "bytes");
}

}  // namespace penstock::gpu_bench
