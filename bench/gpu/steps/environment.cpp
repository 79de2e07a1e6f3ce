// SPDX-License-Identifier: Apache-2.0
// 1. The machine on which everything is measured.
#include <algorithm>
#include <cctype>
#include <cstdint>
#include <fstream>
#include <string>

#include <fmt/format.h>
#include <penstock/device.hpp>

#include "../cublas.hpp"
#include "../cuda_help.hpp"
#include "../steps.hpp"

namespace penstock::gpu_bench {

namespace {

int attribute(cudaDeviceAttr which) {
  int value = 0;
  must(cudaDeviceGetAttribute(&value, which, 0), "cudaDeviceGetAttribute");
  return value;
}

std::string bus_id() {
  char id[32] = {};
  must(cudaDeviceGetPCIBusId(id, sizeof id, 0), "cudaDeviceGetPCIBusId");
  std::string text = id;
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

// Returns the first line of a file about the GPU's PCI device. Called while copies run, because idle links slow down.
std::string link_file(const std::string& bus, const char* name) {
  std::ifstream file("/sys/bus/pci/devices/" + bus + "/" + name);
  std::string line;
  return std::getline(file, line) ? line : "unknown";
}

}  // namespace

void environment(Results& results, const Settings&) {
  results.begin(1, "environment");
  auto& raw = results.raw()["environment"];
  int driver = 0, runtime = 0;
  must(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
  must(cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion");
  cudaDeviceProp gpu = {};
  must(cudaGetDeviceProperties(&gpu, 0), "cudaGetDeviceProperties");
  raw["support"] = device_support();
  raw["gpu"] = gpu.name;
  raw["compute_capability"] = fmt::format("{}.{}", gpu.major, gpu.minor);
  raw["memory_bytes"] = gpu.totalGlobalMem;
  raw["driver"] = driver;
  raw["runtime"] = runtime;
  raw["copy_engines"] = attribute(cudaDevAttrAsyncEngineCount);
  raw["memory_pools"] = attribute(cudaDevAttrMemoryPoolsSupported);
  raw["host_numa_pools"] = attribute(cudaDevAttrHostNumaMemoryPoolsSupported);
  raw["host_pools"] = attribute(cudaDevAttrHostMemoryPoolsSupported);
  raw["host_numa_node"] = attribute(cudaDevAttrHostNumaId);
  raw["matrix_products"] = Cublas::name();
  const std::string bus = bus_id();
  raw["bus"] = bus;
  {
    constexpr std::size_t bytes = std::size_t{64} << 20;
    const Memory host(Kind::pinned, bytes), device(Kind::device, bytes);
    const CudaStream stream;
    for (int i = 0; i < 40; ++i) copy(device.data(), host.data(), bytes, stream.handle());
    raw["link_speed"] = link_file(bus, "current_link_speed");
    raw["link_width"] = link_file(bus, "current_link_width");
    raw["numa_node"] = link_file(bus, "numa_node");
    stream.synchronize();
  }
  for (const auto& [key, value] : raw.items()) results.note(key + ": " + value.dump());
}

}  // namespace penstock::gpu_bench
