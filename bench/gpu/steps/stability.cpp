// 9. Nothing grows: many short epochs, and loaders that end in the middle of one.
#include <fstream>
#include <optional>
#include <sstream>
#include <string>

#include "../batches.hpp"
#include "../steps.hpp"

namespace penstock::gpu_bench {

namespace {

// Of /proc/self/status, bytes.
double status_bytes(const std::string& key) {
  std::ifstream file("/proc/self/status");
  std::string line;
  while (std::getline(file, line))
    if (line.starts_with(key + ":")) return 1024 * std::stod(line.substr(key.size() + 1));
  return 0;
}

struct Used {
  double device, locked, pinned, resident;
};

Used used_now() {
  std::size_t free = 0, total = 0;
  must(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  must(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
  return {static_cast<double>(total - free), status_bytes("VmLck"), status_bytes("VmPin"), status_bytes("VmRSS")};
}

void tell(Results& results, const std::string& what, const Used& before, const Used& after) {
  constexpr double mebi = 1024.0 * 1024;
  auto& raw = results.raw()["stability"][what];
  const auto one = [&](const char* name, double b, double a, double max_mebi) {
    raw[name] = {b, a};
    results.add({.name = what + ": growth, " + name,
                 .ours = (a - b) / mebi,
                 .against = b / mebi,
                 .ratio = (a - b) / mebi / max_mebi,
                 .unit = "MiB",
                 .gate = Gate::at_most,
                 .bound = 1,
                 .of_speed = false});
  };
  // Room for what a driver and an allocator take a page at a time.
  one("GPU memory", before.device, after.device, 8);
  one("VmLck", before.locked, after.locked, 1);
  one("VmPin", before.pinned, after.pinned, 1);
  one("VmRSS", before.resident, after.resident, 32);
}

}  // namespace

void stability(Results& results, const Settings& settings) {
  results.begin(9, "stability");
  const BatchSize size{.rows = 8, .row_bytes = 64 << 10};
  const CudaStream stream;
  const Memory wrong(Kind::device, 8);
  const Pipeline pipeline = from(Stamped{.count = 24 * size.rows, .row_bytes = size.row_bytes}) | batch(size.rows);
  const Executor executor(2);
  {
    Loader loader(pipeline, {.device = gpu(0), .executor = executor});
    const auto epoch = [&] {
      static_cast<void>(time_loader(loader, stream, size, nullptr, wrong.as<unsigned long long>()));
    };
    for (int i = 0; i < 5; ++i) epoch();
    const Used before = used_now();
    const std::uint64_t allocations = loader.report().batch_allocations;
    for (int i = 0; i < 50; ++i) epoch();
    tell(results, "50 epochs", before, used_now());
    const auto more = static_cast<double>(loader.report().batch_allocations - allocations);
    results.add({.name = "50 epochs: blocks allocated for batches",
                 .ours = more,
                 .ratio = more,
                 .gate = Gate::at_most,
                 .bound = 0,
                 .of_speed = false});
  }
  const auto cut_short = [&](int times) {
    for (int i = 0; i < times; ++i) {
      std::optional<Batch> kept;
      Loader loader(pipeline, {.device = gpu(0), .executor = executor});
      int left = i % 11;
      for (Batch& batch : loader.epoch(stream.ref())) {
        if (left-- > 0) continue;
        if (i % 3 == 0) kept = std::move(batch);  // outlives its loader
        break;
      }
    }
  };
  cut_short(20);
  const Used before = used_now();
  cut_short(settings.quick ? 40 : 200);
  tell(results, "loaders cut short", before, used_now());
}

}  // namespace penstock::gpu_bench
