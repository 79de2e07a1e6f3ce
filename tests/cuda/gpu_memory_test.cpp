// SPDX-License-Identifier: Apache-2.0
// A GPU's memory, and the host's that it reads: all of it comes back, and where there is none, that is told.
#include "support/catch.hpp"

#include <cstring>

#include "cuda/gpu_help.hpp"
#include "device/devices.hpp"

using namespace help;

namespace {

std::size_t free_bytes() {
  std::size_t free = 0, total = 0;
  must(cudaMemGetInfo(&free, &total));
  return free;
}

std::size_t total_bytes() {
  std::size_t free = 0, total = 0;
  must(cudaMemGetInfo(&free, &total));
  return total;
}

cudaMemoryType type_of(const void* data) {
  cudaPointerAttributes attributes = {};
  must(cudaPointerGetAttributes(&attributes, data));
  return attributes.type;
}

// One that is left at some batch, at times with a batch in hand.
void storm(const GpuStream& stream, const ps::Executor& executor, std::uint64_t i) {
  std::optional<ps::Batch> kept;
  std::stop_source stop;
  ps::Loader loader(wide_records(24 + i % 5), {.device = ps::gpu(0),
                                               .executor = executor,
                                               .depth = static_cast<unsigned>(2 + i % 3),
                                               .stop = stop.get_token()});
  std::uint64_t left = mix(i) % 12;
  if (left == 0) return;
  for (ps::Batch& batch : loader.epoch(stream.ref())) {
    if (--left != 0) continue;
    if (mix(i + 1) % 4 == 0) stop.request_stop();
    if (mix(i + 2) % 3 == 0) kept = std::move(batch);
    break;
  }
}

}  // namespace

TEST_CASE("loaders of a GPU are started and stopped at any moment and all memory comes back") {
  PENSTOCK_NEEDS_GPU();
  const Watchdog watchdog(240s);
  const ps::Executor executor(2);
  const GpuStream stream;
  for (std::uint64_t i = 0; i < 20; ++i) storm(stream, executor, i);
  const std::size_t device = free_bytes();
  const std::uint64_t resident = resident_bytes();
  const unsigned files = fd_count(), threads = thread_count();
  for (std::uint64_t i = 20; i < 220; ++i) storm(stream, executor, i);
  CHECK(free_bytes() + ps::MiB(8) >= device);
  CHECK(resident_bytes() <= resident + ps::MiB(16));
  CHECK(fd_count() <= files + 2);
  CHECK(eventually([&] { return thread_count() <= threads; }));
}

TEST_CASE("a loader that is warm takes no memory of a GPU") {
  PENSTOCK_NEEDS_GPU();
  const Watchdog watchdog(120s);
  ps::Loader loader(wide_records(), {.device = ps::gpu(0), .threads = 2});
  GpuConsumer consumer;
  const auto epoch = [&] {
    for (ps::Batch& batch : loader.epoch(consumer.ref())) consumer.step(batch);
    static_cast<void>(consumer.finish());
  };
  for (int i = 0; i < 3; ++i) epoch();
  const std::size_t before = free_bytes();
  const std::uint64_t allocations = loader.report().batch_allocations;
  for (int i = 0; i < 50; ++i) epoch();
  CHECK(free_bytes() + ps::MiB(2) >= before);  // others may use it, a page at a time
  CHECK(loader.report().batch_allocations == allocations);
}

TEST_CASE("memory that a GPU does not have is told and the process goes on") {
  PENSTOCK_NEEDS_GPU();
  const Watchdog watchdog(120s);
  const auto model = ps::detail::open_device(ps::gpu(0));
  for (int i = 0; i < 3; ++i) {
    const auto error = error_of([&] { model->device_memory().allocate(2 * total_bytes(), 256); });
    REQUIRE(error);
    CHECK(error->code() == ps::Errc::out_of_memory);
    CHECK(error->cause().find("`device_depth`") != std::string::npos);
  }
  // A loader of more than there is: 256 MiB a batch.
  const auto depth = static_cast<unsigned>(2 * total_bytes() / ps::MiB(256));
  const ps::Pipeline large = ps::from(Records{.count = 4, .width = std::int64_t{64} << 20}) | ps::batch(1);
  const auto error =
      error_of([&] { ps::Loader(large, {.device = ps::gpu(0), .threads = 1, .depth = 2, .device_depth = depth}); });
  REQUIRE(error);
  CHECK(error->code() == ps::Errc::out_of_memory);
  CHECK(cudaGetLastError() == cudaSuccess);  // nothing is left for a call of the user's to find
  ps::Loader loader(wide_records(), {.device = ps::gpu(0), .threads = 2});
  CHECK(train(loader) == collect(wide_records(), {.threads = 1}));
}

TEST_CASE("memory of a loader comes back at its end while another loader of the GPU lives") {
  PENSTOCK_NEEDS_GPU();
  const Watchdog watchdog(120s);
  GpuConsumer consumer;
  ps::Loader other(wide_records(), {.device = ps::gpu(0), .threads = 1});
  auto held = other.next(consumer.ref());
  // 16 MiB a batch.
  const ps::Pipeline large = ps::from(Records{.count = 4, .width = std::int64_t{4} << 20}) | ps::batch(1);
  const auto make = [&] {
    return ps::Loader(large, {.device = ps::gpu(0), .threads = 1, .depth = 2, .device_depth = 8});
  };
  { const ps::Loader first = make(); }  // what the driver takes at its first use stays
  const std::size_t before = free_bytes();
  {
    const ps::Loader loader = make();
    CHECK(free_bytes() + ps::MiB(96) <= before);
  }
  CHECK(free_bytes() + ps::MiB(8) >= before);
  CHECK(held->number() == 0);
}

TEST_CASE("pinned memory is a GPU's to read and aligned to pages and no more so once it is given back") {
  PENSTOCK_NEEDS_GPU();
  const Watchdog watchdog(240s);
  const auto model = ps::detail::open_device(ps::gpu(0));
  ps::MemoryResource &pinned = model->pinned_memory(), &on_device = model->device_memory();
  CHECK(pinned.kind() == ps::MemoryKind::pinned);
  CHECK(on_device.kind() == ps::MemoryKind::device);
  // The last is mapped, and touched on several threads, first.
  for (const std::size_t bytes :
       {std::size_t{1}, std::size_t{100}, std::size_t{5000}, ps::MiB(3), ps::GiB(1) + 12345}) {
    INFO(bytes);
    auto* const data = static_cast<unsigned char*>(pinned.allocate(bytes, 4096));
    CHECK(reinterpret_cast<std::uintptr_t>(data) % 4096 == 0);
    CHECK(type_of(data) == cudaMemoryTypeHost);
    CHECK(type_of(data + bytes - 1) == cudaMemoryTypeHost);
    data[0] = 17;
    data[bytes - 1] = 42;
    void* const there = on_device.allocate(bytes, 256);
    CHECK(type_of(there) == cudaMemoryTypeDevice);
    {
      const ps::detail::DeviceGuard entered(*model);
      const auto copies = model->make_stream("copies", ps::detail::DeviceModel::Priority::normal);
      model->copy(there, data, bytes, copies->ref());
      model->synchronize(copies->ref());
      data[bytes - 1] = 0;
      model->copy(data, there, bytes, copies->ref());
      model->synchronize(copies->ref());
    }
    CHECK(data[bytes - 1] == 42);
    CHECK(data[0] == (bytes == 1 ? 42 : 17));
    on_device.deallocate(there, bytes, 256);
    pinned.deallocate(data, bytes, 4096);
  }
  CHECK(error_of([&] { pinned.allocate(1, 8192); })->code() == ps::Errc::unsupported);
}
