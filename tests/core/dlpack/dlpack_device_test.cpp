// SPDX-License-Identifier: Apache-2.0
// Batches of a device that leave as DLPack tensors: who waits for whom.
#include "support/catch.hpp"

#include <cstring>

#include <penstock/interop/dlpack.hpp>

#include "core/delivery/device_help.hpp"
#include "core/dlpack/dlpack_help.hpp"

using namespace help;
namespace dl = penstock::dlpack;

namespace {

ps::Pipeline device_records(std::uint64_t count = 60) {
  return ps::from(Records{.count = count}) | ps::shuffle() | ps::batch(4);
}

// Another library: knows tensors alone, reads them on a stream of its own, and lets them go as soon as that is
// enqueued.
class Foreign {
 public:
  explicit Foreign(ps::EmulatedGpu& gpu) : stream_(gpu.make_stream("foreign")) {}
  ps::StreamRef ref() const { return stream_.ref(); }
  template <class Managed>
  void read(Managed* managed) {
    read(Owned<Managed>(managed)->tensor);
  }
  void read(const dl::RawTensor& tensor) {
    std::int64_t count = tensor.dtype.bits / 8;
    for (std::int32_t axis = 0; axis < tensor.ndim; ++axis) count *= tensor.shape[axis];
    const void* const from = tensor.data;
    std::vector<std::byte>& to = out_.emplace_back(static_cast<std::size_t>(count));
    stream_.launch("read",
                   [from, &to, pause = pause] {
                     std::this_thread::sleep_for(pause);
                     std::memcpy(to.data(), from, to.size());
                   },
                   {{from, to.size(), false}});
  }
  std::vector<std::vector<std::byte>> finish() {
    stream_.synchronize();
    return {out_.begin(), out_.end()};
  }
  std::chrono::microseconds pause{0};

 private:
  std::deque<std::vector<std::byte>> out_;  // written to by the stream, which ends first
  ps::EmulatedGpu::Stream stream_;
};

// The fields of all batches, one after the other.
std::vector<std::vector<std::byte>> fields_of(const std::vector<Got>& batches, std::size_t x_bytes = 64) {
  std::vector<std::vector<std::byte>> out;
  for (const Got& got : batches) {
    const auto middle = got.bytes.begin() + static_cast<std::ptrdiff_t>(x_bytes);
    out.emplace_back(got.bytes.begin(), middle);
    out.emplace_back(middle, got.bytes.end());
  }
  return out;
}

}  // namespace

TEST_CASE("tensors of a device's batches are read after their copies and written to again after the readers") {
  const Watchdog watchdog(120s);
  const auto expected = fields_of(collect(device_records(), {.threads = 1}));
  for (const Mode mode : {Mode::late, Mode::threaded})
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
      ps::EmulatedGpu gpu({.mode = mode, .checked = true, .seed = seed, .max_delay_us = seed % 2 == 0 ? 0u : 50u});
      ps::Loader loader(device_records(), {.device = gpu.device(), .threads = 2, .device_depth = 2});
      const auto asked_on = gpu.make_stream("training");
      Foreign foreign(gpu);
      foreign.pause = std::chrono::microseconds(mode == Mode::threaded ? 300 : 0);
      while (auto batch = loader.next(asked_on.ref())) {
        const dl::Exporter fields(std::move(*batch));
        for (const char* const field : {"x", "y"})
          if (seed % 3 == 0)
            foreign.read(fields.to_versioned(field, foreign.ref()));
          else
            foreign.read(fields.to_unversioned(field, foreign.ref()));
      }
      CHECK(foreign.finish() == expected);
      for (const std::string& finding : gpu.findings()) FAIL(finding);
    }
}

TEST_CASE("a tensor of a device's batch says that nobody but its device may read it") {
  ps::EmulatedGpu first, gpu;
  ps::Loader loader(device_records(), {.device = gpu.device(), .threads = 1});
  const dl::Exporter fields(loader.next().value());
  const dl::Tensor x(fields.to_versioned("x"));
  CHECK(x.device_id() == dl::DeviceId{dl::DeviceType::extension, gpu.device().index});
  CHECK(static_cast<int>(x.device_id().type) == 12);
  CHECK(x.view().shape == ps::Shape{4, 4});
  CHECK(x.view().data == fields.batch()["x"].data);
  CHECK(error_of([&] { (void)x.device(); })->code() == ps::Errc::unsupported);
}

TEST_CASE("a tensor that is exported without a stream is there") {
  const auto expected = fields_of(collect(device_records(), {.threads = 1}));
  for (const Mode mode : {Mode::late, Mode::threaded}) {
    ps::EmulatedGpu gpu({.mode = mode, .checked = true, .max_delay_us = 500});
    ps::Loader loader(device_records(), {.device = gpu.device(), .threads = 1, .device_depth = 2});
    const auto asked_on = gpu.make_stream("training");
    for (std::size_t i = 0; auto batch = loader.next(asked_on.ref()); i += 2) {
      const dl::Exporter fields(std::move(*batch));
      const Owned x(fields.to_versioned("x"));
      CHECK(std::memcmp(x->tensor.data, expected[i].data(), 64) == 0);
    }
    for (const std::string& finding : gpu.findings()) FAIL(finding);
  }
}

TEST_CASE("tensors of a device's batches hold their buffers and outlive loader and device") {
  const Watchdog watchdog(60s);
  const auto expected = fields_of(collect(device_records(), {.threads = 1}));
  for (const Mode mode : {Mode::late, Mode::threaded}) {
    std::optional<ps::EmulatedGpu> gpu(std::in_place, ps::EmulatedGpuOptions{.mode = mode, .checked = true});
    std::optional<Foreign> foreign(*gpu);
    Owned<dl::ManagedTensorVersioned> x;
    Owned<dl::ManagedTensor> y;
    {
      ps::Loader loader(device_records(), {.device = gpu->device(), .threads = 1, .device_depth = 2});
      auto other = loader.next(foreign->ref());
      {
        const dl::Exporter fields(loader.next(foreign->ref()).value());
        x = Owned(fields.to_versioned("x", foreign->ref()));
        y = Owned(fields.to_unversioned("y", foreign->ref()));
      }
      CHECK(error_of([&] { (void)loader.next(foreign->ref()); })->code() == ps::Errc::leases_exhausted);
      other.reset();
      CHECK(loader.next(foreign->ref()));
    }
    CHECK(gpu->pinned_bytes_used() == 0);
    CHECK(gpu->device_bytes_used() != 0);
    foreign->read(x->tensor);
    std::thread([&] { x.reset(); }).join();
    CHECK(gpu->device_bytes_used() != 0);
    foreign->read(y->tensor);
    if (mode == Mode::late) {
      std::thread([&] { y.reset(); }).join();
      CHECK(gpu->device_bytes_used() == 0);
    }
    const auto got = foreign->finish();
    CHECK(got[0] == expected[2]);
    CHECK(got[1] == expected[3]);
    for (const std::string& finding : gpu->findings()) FAIL(finding);
    foreign.reset();
    gpu.reset();
  }
}

TEST_CASE("a stream of another device gets no tensor and the lease does not wait for it") {
  ps::EmulatedGpu gpu, other;
  Foreign stranger(other), friendly(gpu);
  ps::Loader loader(device_records(), {.device = gpu.device(), .threads = 1, .device_depth = 2});
  {
    const dl::Exporter fields(loader.next(friendly.ref()).value());
    CHECK(error_of([&] { (void)fields.to_versioned("x", stranger.ref()); })->code() == ps::Errc::invalid_argument);
    CHECK(error_of([&] { (void)fields.to_unversioned("x", stranger.ref()); })->code() == ps::Errc::invalid_argument);
  }
  CHECK(train(loader, gpu).size() == 15);
}

TEST_CASE("an export that the device refused is asked for again and then waits") {
  const auto expected = fields_of(collect(device_records(), {.threads = 1}));
  for (const Mode mode : {Mode::late, Mode::threaded}) {
    bool refused = false;
    for (std::uint64_t call = 1; call < 100; ++call) {
      ps::EmulatedGpu gpu({.mode = mode, .checked = true, .fault = {call}});
      static_cast<void>(error_of([&] {
        const auto asked_on = gpu.make_stream("training");
        Foreign foreign(gpu);
        ps::Loader loader(device_records(), {.device = gpu.device(), .threads = 1, .device_depth = 2});
        while (auto batch = loader.next(asked_on.ref())) {
          const dl::Exporter fields(std::move(*batch));
          dl::ManagedTensorVersioned* x = nullptr;
          refused |= error_of([&] { x = fields.to_versioned("x", foreign.ref()); }).has_value();
          foreign.read(x != nullptr ? x : fields.to_versioned("x", foreign.ref()));
          foreign.read(fields.to_unversioned("y", foreign.ref()));
        }
        const auto got = foreign.finish();
        for (std::size_t i = 0; i < got.size(); ++i) REQUIRE(got[i] == expected[i]);
      }));
      for (const std::string& finding : gpu.findings()) FAIL(finding);
    }
    CHECK(refused);
  }
}

TEST_CASE("tensors for several streams are made on several threads and the buffer waits for all of them") {
  const Watchdog watchdog(120s);
  const auto expected = fields_of(collect(device_records(200), {.threads = 1}));
  ps::EmulatedGpu gpu({.checked = true, .seed = 3, .max_delay_us = 50});
  ps::Loader loader(device_records(200), {.device = gpu.device(), .threads = 2, .device_depth = 3});
  Foreign one(gpu), two(gpu);
  while (auto batch = loader.next(one.ref())) {
    const dl::Exporter fields(std::move(*batch));
    const auto use = [](const dl::Exporter& own, Foreign& foreign) {
      foreign.read(own.to_versioned("x", foreign.ref()));
      foreign.read(own.to_unversioned("y", foreign.ref()));
    };
    std::jthread a(use, fields, std::ref(one)), b(use, fields, std::ref(two));
  }
  CHECK(one.finish() == expected);
  CHECK(two.finish() == expected);
  for (const std::string& finding : gpu.findings()) FAIL(finding);
}
