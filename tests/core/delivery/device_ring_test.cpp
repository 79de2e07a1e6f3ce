// SPDX-License-Identifier: Apache-2.0
// The ring of batches on devices, without a loader and without threads: who has which batch, and when it comes back.
#include "delivery/device_ring.hpp"

#include "core/help.hpp"
#include "device/emulated/emulated_device.hpp"
#include "support/catch.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace help;
using namespace penstock::detail;
using namespace penstock::detail::runtime;

namespace {

using Mode = ps::EmulatedGpuOptions::Mode;
constexpr std::uint64_t rows = 4;
const ps::Schema schema{{"x", ps::DType::i64, {8}}};

std::shared_ptr<EmulatedDevice> gpu(int number, const ps::EmulatedGpuOptions& options = {.mode = Mode::late}) {
  return std::make_shared<EmulatedDevice>(ps::Device{ps::Device::Kind::gpu, number}, options);
}
std::shared_ptr<const PipelineData> pipeline() {
  auto data = std::make_shared<PipelineData>();
  data->schema = schema;
  data->batch = BatchSpec{rows, {}};
  return data;
}
std::unique_ptr<DeviceRing> ring_of(const DeviceModels& devices, unsigned depth, unsigned most) {
  return std::make_unique<DeviceRing>(devices, pipeline(), BatchLayout(schema, rows), depth, most);
}
DeviceBatch& acquire(DeviceRing& ring) {
  const DeviceRing::Lock lock(ring.mutex);
  REQUIRE(ring.has_free(lock));
  return ring.acquire(lock);
}
void lease(DeviceRing& ring, DeviceBatch& batch) {
  const DeviceRing::Lock lock(ring.mutex);
  ring.lease(lock, batch);
}
std::size_t leased(DeviceRing& ring) {
  const DeviceRing::Lock lock(ring.mutex);
  return ring.leased(lock);
}
bool has_free(DeviceRing& ring) {
  const DeviceRing::Lock lock(ring.mutex);
  return ring.has_free(lock);
}

}  // namespace

TEST_CASE("a batch of a device ring is free again once all its parts came back, and the first that came is next") {
  const auto a = gpu(0), b = gpu(1);
  const auto ring = ring_of({a, b}, 3, 3);
  CHECK(ring->layout().rows() == rows / 2);
  DeviceBatch *first = &acquire(*ring), *second = &acquire(*ring), *third = &acquire(*ring);
  CHECK_FALSE(has_free(*ring));
  for (DeviceBatch* batch : {first, second, third}) {
    REQUIRE(batch->parts.size() == 2);
    CHECK(batch->parts[0].data != batch->parts[1].data);
    lease(*ring, *batch);
  }
  CHECK(leased(*ring) == 3);
  ring->give_back(*third, 1, {});
  ring->give_back(*first, 0, {});
  CHECK(leased(*ring) == 3);  // each has a part out
  CHECK_FALSE(has_free(*ring));
  ring->give_back(*third, 0, {});
  CHECK(leased(*ring) == 2);
  ring->give_back(*first, 1, {});
  CHECK(&acquire(*ring) == third);
  CHECK(&acquire(*ring) == first);
  CHECK_FALSE(has_free(*ring));
  ring->give_back(*second, 0, {});
  ring->give_back(*second, 1, {});
  CHECK(&acquire(*ring) == second);
}

TEST_CASE("a device ring grows to its most, takes nothing where there is no memory, and gives all of it back") {
  const std::size_t bytes = BatchLayout(schema, rows).bytes();
  const auto device = gpu(0, {.mode = Mode::late, .max_device_bytes = 2 * bytes});
  const auto other = gpu(1);
  {
    const auto ring = ring_of({device}, 1, 4);
    CHECK(device->used(ps::MemoryKind::device) == bytes);
    CHECK(has_free(*ring));
    ring->grow();
    CHECK(device->used(ps::MemoryKind::device) == 2 * bytes);
    CHECK(error_of([&] { ring->grow(); })->code() == ps::Errc::out_of_memory);
    const DeviceRing::Lock lock(ring->mutex);
    CHECK(ring->depth(lock) == 2);
    CHECK(ring->can_grow(lock));
  }
  CHECK(device->used(ps::MemoryKind::device) == 0);
  // One of two devices has no room: nothing stays on the other.
  CHECK(error_of([&] {
          ring_of({other, gpu(2, {.mode = Mode::late, .max_device_bytes = 64})}, 2, 2);
        })->code() == ps::Errc::out_of_memory);
  CHECK(other->used(ps::MemoryKind::device) == 0);
  const auto ring = ring_of({other}, 1, 2);
  ring->grow();
  const DeviceRing::Lock lock(ring->mutex);
  CHECK_FALSE(ring->can_grow(lock));
}

TEST_CASE("the end of a lease is a point on each stream that used the batch") {
  const auto device = gpu(0);
  const auto ring = ring_of({device}, 1, 1);
  const auto one = device->make_stream("one", DeviceModel::Priority::normal);
  const auto two = device->make_stream("two", DeviceModel::Priority::normal);
  DeviceBatch& batch = acquire(*ring);
  while (batch.parts[0].released.size() < 2) batch.parts[0].released.push_back(device->make_event());
  lease(*ring, batch);
  bool ran = false;
  device->launch(one->ref(), "use", [&] { ran = true; });
  const ps::StreamRef streams[] = {one->ref(), two->ref()};
  ring->give_back(batch, 0, streams);
  CHECK(batch.parts[0].users == 2);
  CHECK_FALSE(ran);  // nobody waited for it
  CHECK(has_free(*ring));
  device->synchronize(*batch.parts[0].released[0]);
  CHECK(ran);
  // The next lease that no stream used leaves nothing to wait for.
  DeviceBatch& again = acquire(*ring);
  lease(*ring, again);
  ring->give_back(again, 0, {});
  CHECK(again.parts[0].users == 0);
}

TEST_CASE("a batch whose last use is not known is never used again, and that is told once") {
  struct Made {
    explicit Made(std::uint64_t call)
        : device(
              gpu(0, {.mode = Mode::late, .fault = {.call = call, .count = ps::EmulatedGpuOptions::Fault::for_ever}})),
          ring(ring_of({device}, 2, 2)),
          stream(device->make_stream("consumer", DeviceModel::Priority::normal)) {}
    std::shared_ptr<EmulatedDevice> device;
    std::unique_ptr<DeviceRing> ring;
    std::unique_ptr<DeviceModel::Stream> stream;
  };
  // The device fails from the end of the lease on.
  const Made made(Made(0).device->calls() + 1);
  DeviceRing& ring = *made.ring;
  DeviceBatch& batch = acquire(ring);
  lease(ring, batch);
  const ps::StreamRef streams[] = {made.stream->ref()};
  ring.give_back(batch, 0, streams);
  DeviceRing::Lock lock(ring.mutex);
  CHECK(ring.leased(lock) == 0);
  CHECK(ring.usable(lock) == 1);
  const auto told = error_of([&] { ring.tell_of_lost(lock); });
  REQUIRE(told);
  CHECK(told->code() == ps::Errc::device);
  CHECK(told->cause().find("1 of 2 batches are left") != std::string::npos);
  CHECK_FALSE(error_of([&] { ring.tell_of_lost(lock); }));
  CHECK(&ring.acquire(lock) != &batch);
  CHECK_FALSE(ring.has_free(lock));
}

TEST_CASE("a batch let go on a stream that is being captured is lost, and the graph has nothing of it") {
  const auto device = gpu(0, {.mode = Mode::late, .checked = true});
  const auto ring = ring_of({device}, 2, 2);
  const auto captured = device->make_stream("captured", DeviceModel::Priority::normal);
  const auto other = device->make_stream("other", DeviceModel::Priority::normal);
  DeviceBatch& batch = acquire(*ring);
  batch.parts[0].released.push_back(device->make_event());
  lease(*ring, batch);
  bool ran = false;
  device->launch(captured->ref(), "before the capture", [&] { ran = true; });
  device->begin_capture(captured->ref());
  device->launch(captured->ref(), "of the graph", [] {});
  const ps::StreamRef streams[] = {other->ref(), captured->ref()};
  ring->give_back(batch, 0, streams);
  CHECK(device->end_capture(captured->ref()) == 1);  // it throws where the graph was spoilt
  CHECK(batch.parts[0].users == 0);
  CHECK_FALSE(ran);  // nobody waited
  {
    DeviceRing::Lock lock(ring->mutex);
    CHECK(ring->usable(lock) == 1);
    const auto told = error_of([&] { ring->tell_of_lost(lock); });
    REQUIRE(told);
    CHECK(told->code() == ps::Errc::unsupported);
    CHECK(told->cause().find("captured into a graph") != std::string::npos);
    CHECK(told->cause().find("1 of 2 batches are left") != std::string::npos);
    CHECK_FALSE(error_of([&] { ring->tell_of_lost(lock); }));
  }
  // The other one is not captured: it comes back.
  DeviceBatch& second = acquire(*ring);
  second.parts[0].released.push_back(device->make_event());
  lease(*ring, second);
  ring->give_back(second, 0, streams);
  CHECK(has_free(*ring));
  CHECK(device->findings().empty());
}

TEST_CASE("the end of a device ring waits for what uses a lost batch, or lets its memory go for good") {
  // Tells what was not given back, and does that.
  struct Watched final : ps::MemoryResource {
    explicit Watched(ps::MemoryResource& from) : upstream(from) {}
    ~Watched() override {
      if (data != nullptr) upstream.deallocate(data, bytes, align);
    }
    void* allocate(std::size_t b, std::size_t a) override { return data = upstream.allocate(bytes = b, align = a); }
    void deallocate(void* d, std::size_t b, std::size_t a) noexcept override {
      upstream.deallocate(d, b, a);
      data = nullptr;
      was_done = done;
    }
    ps::MemoryKind kind() const noexcept override { return ps::MemoryKind::device; }
    ps::MemoryResource& upstream;
    void* data = nullptr;
    std::size_t bytes = 0, align = 0;
    bool done = false, was_done = false;
  };
  for (const bool still : {false, true}) {
    const auto device = gpu(0);
    Watched memory(device->device_memory());
    const auto captured = device->make_stream("captured", DeviceModel::Priority::normal);
    {
      DeviceRing ring({device}, pipeline(), BatchLayout(schema, rows), 1, 1, &memory);
      DeviceBatch& batch = acquire(ring);
      lease(ring, batch);
      device->launch(captured->ref(), "use", [&] { memory.done = true; });
      device->begin_capture(captured->ref());
      const ps::StreamRef streams[] = {captured->ref()};
      ring.give_back(batch, 0, streams);
      if (!still) CHECK(device->end_capture(captured->ref()) == 0);
    }
    CHECK((memory.data != nullptr) == still);
    CHECK(memory.was_done == !still);
    if (still) CHECK(error_of([&] { device->end_capture(captured->ref()); })->code() == ps::Errc::device);
  }
}

TEST_CASE("a device ring keeps the first failure until it is told") {
  const auto ring = ring_of({gpu(0)}, 1, 1);
  DeviceRing::Lock lock(ring->mutex);
  CHECK_FALSE(ring->failure(lock));
  ring->fail(lock, ps::Error(ps::Errc::device, "first"));
  ring->fail(lock, ps::Error(ps::Errc::device, "second"));
  REQUIRE(ring->failure(lock));
  CHECK(ring->failure(lock)->cause() == "first");
  ring->clear_failure(lock);
  CHECK_FALSE(ring->failure(lock));
  ring->fail(lock, std::nullopt);  // no memory to say which
  REQUIRE(ring->failure(lock));
  CHECK(ring->failure(lock)->code() == ps::Errc::out_of_memory);
}

}  // namespace PENSTOCK_TEST_FILE
