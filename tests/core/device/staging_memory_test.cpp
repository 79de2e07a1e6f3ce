// SPDX-License-Identifier: Apache-2.0
// Memory that a device reads batches from: pinned, or ordinary where that can't be.
#include "device/staging_memory.hpp"

#include <cstring>

#include "core/help.hpp"
#include "device/emulated/emulated_device.hpp"
#include "support/catch.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace help;
using namespace penstock::detail;

namespace {
constexpr ps::Device some_gpu{ps::Device::Kind::gpu, 0};
}

TEST_CASE("memory for a device's batches is pinned, and ordinary with a note where it can't be") {
  for (const bool refuses : {false, true}) {
    const auto device = std::make_shared<EmulatedDevice>(some_gpu, ps::EmulatedGpuOptions{.refuses_to_pin = refuses});
    StagingMemory memory(device);
    CHECK(memory.note().empty());
    void* const a = memory.allocate(10'000, 4096);
    void* const b = memory.allocate(1, 64);
    CHECK(device->used(ps::MemoryKind::pinned) == (refuses ? 0u : 10'001u));
    std::memset(a, 1, 10'000);
    std::memset(b, 1, 1);
    const std::string note = memory.note();
    CHECK(note.empty() != refuses);
    if (refuses)
      for (const char* words : {"could not be pinned", "asking for 1 bytes", "gpu 0", "slower", "ulimit -l"})
        CHECK(note.find(words) != std::string::npos);
    memory.deallocate(a, 10'000, 4096);
    memory.deallocate(b, 1, 64);
    CHECK(device->used(ps::MemoryKind::pinned) == 0);
  }
}

TEST_CASE("a limit of pinned memory stays hard") {
  const auto device = std::make_shared<EmulatedDevice>(some_gpu, ps::EmulatedGpuOptions{.max_pinned_bytes = 1000});
  StagingMemory memory(device);
  CHECK(error_of([&] { memory.allocate(1001, 64); })->code() == ps::Errc::out_of_memory);
  CHECK(memory.note().empty());
}

}  // namespace PENSTOCK_TEST_FILE
