// SPDX-License-Identifier: Apache-2.0
// 3. How long memory and CUDA's calls take the host.
#include <cstdlib>
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "../cuda_help.hpp"
#include "../steps.hpp"

namespace penstock::gpu_bench {

namespace {

// Returns the microseconds per call. The stream is empty at the end of each round.
double call_microseconds(const CudaStream& stream, const std::function<void()>& call) {
  constexpr int times = 200;
  std::vector<double> rounds;
  for (int round = 0; round < 5; ++round) {
    const double begin = wall_seconds();
    for (int i = 0; i < times; ++i) call();
    rounds.push_back(1e6 * (wall_seconds() - begin) / times);
    stream.synchronize();
  }
  return median_of(rounds);
}

#if CUDART_VERSION >= 13000
double batch_microseconds(const CudaStream& stream, const Memory& host, const Memory& device, std::size_t count) {
  constexpr std::size_t each = 4096;
  std::vector<void*> to;
  std::vector<const void*> from;
  std::vector<std::size_t> bytes(count, each);
  for (std::size_t i = 0; i < count; ++i) {
    to.push_back(device.data() + i * each);
    from.push_back(host.data() + i * each);
  }
  cudaMemcpyAttributes attributes = {};
  attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  std::size_t first = 0;
  return call_microseconds(stream, [&] {
    must(cudaMemcpyBatchAsync(to.data(), from.data(), bytes.data(), count, &attributes, &first, 1, stream.handle()),
         "cudaMemcpyBatchAsync");
  });
}
#endif

}  // namespace

void calls(Results& results, const Settings& settings) {
  results.begin(3, "what memory and calls cost the host");
  auto& raw = results.raw()["calls"];
  const std::size_t bytes = std::size_t{settings.quick ? 64u : 1024u} << 20;
  const double gibibytes = static_cast<double>(bytes) / (1024.0 * 1024 * 1024);
  double plain = 0;
  for (const Kind kind : {Kind::pageable, Kind::pinned, Kind::write_combined, Kind::registered, Kind::device}) {
    const double begin = wall_seconds();
    { const Memory memory(kind, bytes); }
    const double seconds = (wall_seconds() - begin) / gibibytes;
    if (kind == Kind::pageable) plain = seconds;
    raw["allocate_touch_free_s_per_GiB"][name_of(kind)] = seconds;
    results.add({.name = fmt::format("allocate, touch, free: {}", name_of(kind)),
                 .ours = seconds,
                 .against = plain,
                 .unit = "s/GiB"});
  }

  const CudaStream stream;
  const CudaEvent event(false);
  const Memory host(Kind::pinned, std::size_t{1} << 20), device(Kind::device, std::size_t{1} << 20);
  const auto tell = [&](const std::string& name, double microseconds) {
    raw["us"][name] = microseconds;
    results.add({.name = name, .ours = microseconds, .ratio = 0, .unit = "us"});
  };
  tell("cudaMemcpyAsync of 4 KiB",
       call_microseconds(stream, [&] { copy(device.data(), host.data(), 4096, stream.handle()); }));
  tell("cudaEventRecord", call_microseconds(stream, [&] { event.record(stream.handle()); }));
  tell("cudaStreamWaitEvent", call_microseconds(stream, [&] { event.wait_on(stream.handle()); }));
#if CUDART_VERSION >= 13000
  for (const std::size_t count : {std::size_t{1}, std::size_t{16}, std::size_t{256}}) {
    const std::string name = fmt::format("cudaMemcpyBatchAsync of {} x 4 KiB", count);
    try {
      tell(name, batch_microseconds(stream, host, device, count));
    } catch (const std::exception& error) {
      results.note(name + ": " + error.what());
    }
  }
#else
  results.note("cudaMemcpyBatchAsync: has another form before CUDA 13");
#endif
}

}  // namespace penstock::gpu_bench
