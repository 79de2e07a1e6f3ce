// SPDX-License-Identifier: Apache-2.0
// 2. How fast bytes are copied to the GPU, by size, kind of memory, and number of streams. All other steps are compared
// with these numbers.
#include <algorithm>
#include <exception>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "../cuda_help.hpp"
#include "../steps.hpp"

namespace penstock::gpu_bench {

namespace {

constexpr std::size_t mebi = std::size_t{1} << 20;
constexpr std::size_t peak_begins = 16 * mebi;

int times_for(std::size_t bytes) { return static_cast<int>(std::clamp<std::size_t>(512 * mebi / bytes, 3, 200)); }

std::vector<std::size_t> sizes(const Settings& settings) {
  std::vector<std::size_t> all;
  for (std::size_t bytes = mebi / 16; bytes <= (settings.quick ? 64 : 1024) * mebi; bytes *= 4) all.push_back(bytes);
  return all;
}

double rate(std::size_t bytes, int times, double seconds) { return static_cast<double>(bytes) * times / seconds; }

// Returns the rate from the host to the GPU on one stream, for each size.
std::vector<double> by_size(Kind kind, const Settings& settings) {
  const std::vector<std::size_t> all = sizes(settings);
  const Memory host(kind, all.back()), device(Kind::device, all.back());
  const CudaStream stream;
  std::vector<double> rates;
  for (const std::size_t bytes : all) {
    std::vector<double> rounds;
    for (int round = 0; round < 3; ++round) {
      const int times = times_for(bytes);
      const double seconds = time_on(stream, times, [&] { copy(device.data(), host.data(), bytes, stream.handle()); });
      rounds.push_back(rate(bytes, times, seconds));
    }
    rates.push_back(median_of(rounds));
  }
  return rates;
}

// Times two copies at a time, each of one half of the bytes or in one direction. Returns the bytes per second of both
// together.
double two_streams(bool both_ways, std::size_t bytes) {
  const Memory host(Kind::pinned, 2 * bytes), device(Kind::device, 2 * bytes);
  const CudaStream first, second;
  const CudaEvent begin, first_done(false), second_begins(false), end;
  constexpr int times = 10;
  begin.record(first.handle());
  second_begins.record(first.handle());
  second_begins.wait_on(second.handle());
  for (int i = 0; i < times; ++i) {
    copy(device.data(), host.data(), bytes, first.handle());
    if (both_ways)
      copy(host.data() + bytes, device.data() + bytes, bytes, second.handle());
    else
      copy(device.data() + bytes, host.data() + bytes, bytes, second.handle());
  }
  first_done.record(first.handle());
  first_done.wait_on(second.handle());
  end.record(second.handle());
  end.synchronize();
  return rate(2 * bytes, times, end.since(begin));
}

double to_host(std::size_t bytes) {
  const Memory host(Kind::pinned, bytes), device(Kind::device, bytes);
  const CudaStream stream;
  constexpr int times = 10;
  return rate(bytes, times, time_on(stream, times, [&] { copy(host.data(), device.data(), bytes, stream.handle()); }));
}

}  // namespace

void transfers(Results& results, const Settings& settings) {
  results.begin(2, "copies from the host to the GPU");
  auto& raw = results.raw()["transfers"];
  const std::vector<std::size_t> all = sizes(settings);
  raw["bytes"] = all;
  // Pinned memory comes first, because the other kinds are compared with it.
  for (const Kind kind : {Kind::pinned, Kind::pageable, Kind::write_combined, Kind::registered, Kind::host_pool}) {
    const std::string name = name_of(kind);
    try {
      const std::vector<double> rates = by_size(kind, settings);
      raw[name] = rates;
      double best = 0;
      for (std::size_t i = 0; i < all.size(); ++i)
        if (all[i] >= peak_begins) best = std::max(best, rates[i]);
      if (kind == Kind::pinned) results.peak_pinned = best;
      results.add({.name = "H2D, " + name, .ours = best / 1e9, .against = results.peak_pinned / 1e9, .unit = "GB/s"});
    } catch (const std::exception& error) {
      if (kind == Kind::pinned) throw;
      raw[name] = error.what();
      results.note(name + ": not measured: " + error.what());
    }
  }
  const std::size_t bytes = (settings.quick ? 32 : 256) * mebi;
  const double two = two_streams(false, bytes), both = two_streams(true, bytes), back = to_host(bytes);
  raw["two_streams"] = two;
  raw["both_ways"] = both;
  raw["to_host"] = back;
  const double peak = results.peak_pinned / 1e9;
  results.add({.name = "H2D, pinned, two streams", .ours = two / 1e9, .against = peak, .unit = "GB/s"});
  results.add({.name = "D2H, pinned", .ours = back / 1e9, .against = peak, .unit = "GB/s"});
  results.add({.name = "H2D and D2H at a time, sum", .ours = both / 1e9, .against = peak, .unit = "GB/s"});
}

}  // namespace penstock::gpu_bench
