// SPDX-License-Identifier: Apache-2.0
// The emulated device does what a GPU does, no more: what no event orders may run in any order, and what is done too
// early is noticed. The five edges that hold a staging ring together are tried on a model of one.
#include "support/catch.hpp"

#include <array>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <penstock/error.hpp>

#include "core/help.hpp"
#include "device/emulated/emulated_device.hpp"

using namespace help;
using penstock::detail::DeviceModel;
using penstock::detail::EmulatedDevice;
using EmulatedOptions = ps::EmulatedGpuOptions;
using Mode = EmulatedOptions::Mode;

namespace {

// What it throws; `closed` when it throws nothing.
template <class F>
ps::Errc code_of(F&& f) {
  try {
    f();
  } catch (const ps::Error& error) {
    return error.code();
  }
  return ps::Errc::closed;
}

constexpr ps::Device some_gpu{ps::Device::Kind::gpu, 0};

// Memory for as long as a test lasts.
class Block {
 public:
  Block(ps::MemoryResource& memory, std::size_t bytes)
      : memory_(memory), bytes_(bytes), data_(static_cast<std::byte*>(memory.allocate(bytes, 64))) {}
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  ~Block() { memory_.deallocate(data_, bytes_, 64); }
  std::byte* data() const noexcept { return data_; }
  unsigned first() const noexcept { return std::to_integer<unsigned>(data_[0]); }

 private:
  ps::MemoryResource& memory_;
  std::size_t bytes_;
  std::byte* data_;
};

// A ring of pinned, raw and finished batches between a host, two streams of its own and the consumer's stream.
class Staging {
 public:
  enum Edge { pinned_is_free, copied, raw_is_free, ready, output_is_free, edges };
  static constexpr std::size_t bytes = 4096;

  Staging(EmulatedDevice& device, int without) : device_(device), without_(without) {
    for (auto* ring : {&pinned_, &raw_, &output_}) {
      auto& memory = ring == &pinned_ ? device.pinned_memory() : device.device_memory();
      for (auto& buffer : *ring) buffer = std::make_unique<Buffer>(memory, device);
    }
  }

  // How many of the batches reached the consumer changed.
  int run(int batches) {
    seen_.assign(static_cast<std::size_t>(batches), ~0u);
    for (int i = 0; i < batches; ++i) {
      Buffer &pinned = at(pinned_, i), &raw = at(raw_, i), &output = at(output_, i);
      if (has(pinned_is_free) && pinned.used) device_.synchronize(*pinned.done);
      device_.host_writes(pinned.memory.data(), bytes);
      fill(pinned.memory.data(), i);

      if (has(raw_is_free) && raw.used) device_.wait(copy_->ref(), *raw.done);
      device_.copy(raw.memory.data(), pinned.memory.data(), bytes, copy_->ref());
      device_.record(*pinned.done, copy_->ref());

      if (has(copied)) device_.wait(prep_->ref(), *pinned.done);
      if (has(output_is_free) && output.used) device_.wait(prep_->ref(), *output.done);
      std::byte *const from = raw.memory.data(), *const to = output.memory.data();
      device_.launch(prep_->ref(), "prepare", [=] { std::memcpy(to, from, bytes); },
                     {{from, bytes, false}, {to, bytes, true}});
      device_.record(*raw.done, prep_->ref());
      device_.record(*output.ready, prep_->ref());

      if (has(ready)) device_.wait(consumer_->ref(), *output.ready);
      unsigned& result = seen_[static_cast<std::size_t>(i)];
      device_.launch(consumer_->ref(), "step", [=, &result] { result = all_of(to); }, {{to, bytes, false}});
      device_.record(*output.done, consumer_->ref());
      pinned.used = raw.used = output.used = true;
    }
    device_.synchronize(consumer_->ref());
    int wrong = 0;
    for (int i = 0; i < batches; ++i) wrong += seen_[static_cast<std::size_t>(i)] != value_of(i);
    return wrong;
  }

 private:
  struct Buffer {
    Buffer(ps::MemoryResource& from, EmulatedDevice& device)
        : memory(from, bytes), done(device.make_event()), ready(device.make_event()) {}
    Block memory;
    std::unique_ptr<DeviceModel::Event> done, ready;
    bool used = false;
  };
  using Ring = std::array<std::unique_ptr<Buffer>, 3>;

  bool has(Edge edge) const noexcept { return edge != without_; }
  static Buffer& at(Ring& ring, int i) { return *ring[static_cast<std::size_t>(i) % ring.size()]; }
  static unsigned value_of(int i) { return static_cast<unsigned>(i % 200) + 1; }
  static void fill(std::byte* to, int i) { std::memset(to, static_cast<int>(value_of(i)), bytes); }
  // What all bytes are, or something else.
  static unsigned all_of(const std::byte* data) {
    for (std::size_t i = 1; i < bytes; ++i)
      if (data[i] != data[0]) return 1000;
    return std::to_integer<unsigned>(data[0]);
  }

  EmulatedDevice& device_;
  int without_;
  std::vector<unsigned> seen_;  // outlives the streams, which write to it
  Ring pinned_, raw_, output_;
  std::unique_ptr<DeviceModel::Stream> copy_ = device_.make_stream("copy", DeviceModel::Priority::normal),
                                       prep_ = device_.make_stream("prep", DeviceModel::Priority::high),
                                       consumer_ = device_.make_stream("consumer", DeviceModel::Priority::normal);
};

int wrong_batches(const EmulatedOptions& options, int without, std::vector<std::string>* findings = nullptr) {
  EmulatedDevice device(some_gpu, options);
  const int wrong = Staging(device, without).run(40);
  if (findings != nullptr) *findings = device.findings();
  return wrong;
}

}  // namespace

TEST_CASE("an emulated device does nothing before somebody waits for it") {
  EmulatedDevice device(some_gpu, {.mode = Mode::late});
  const auto stream = device.make_stream("a", DeviceModel::Priority::normal);
  const auto event = device.make_event();
  const Block from(device.pinned_memory(), 100), to(device.device_memory(), 100);
  CHECK(from.first() == 0xCD);
  std::memset(from.data(), 7, 100);
  device.copy(to.data(), from.data(), 100, stream->ref());
  device.record(*event, stream->ref());
  CHECK(to.first() == 0xCD);
  std::memset(from.data(), 8, 100);  // too early: the copy sees it
  device.synchronize(*event);
  CHECK(to.first() == 8);
  // An event that is recorded again is another one for who waits from then on; who only asks gets there too.
  device.copy(from.data(), to.data(), 0, stream->ref());
  device.record(*event, stream->ref());
  while (!device.reached(*event)) {
  }
}

TEST_CASE("a stream waits for an event as it was recorded last, and only for what was recorded before") {
  for (const Mode mode : {Mode::late, Mode::threaded}) {
    EmulatedDevice device(some_gpu, {.mode = mode, .seed = 5, .max_delay_us = 200});
    const auto a = device.make_stream("a", DeviceModel::Priority::normal);
    const auto b = device.make_stream("b", DeviceModel::Priority::normal);
    const auto event = device.make_event();
    std::string order;
    device.launch(a->ref(), "first", [&] { order += '1'; });
    device.record(*event, a->ref());
    device.wait(b->ref(), *event);
    device.launch(b->ref(), "second", [&] { order += '2'; });
    device.record(*event, b->ref());
    device.wait(a->ref(), *event);
    device.launch(a->ref(), "third", [&] { order += '3'; });
    device.synchronize(a->ref());
    CHECK(order == "123");
  }
}

TEST_CASE("a ring with all of its edges is right on an emulated device, in every mode") {
  CHECK(wrong_batches({.mode = Mode::late}, -1) == 0);
  for (std::uint64_t seed = 1; seed <= scaled(200, 20); ++seed)
    CHECK(wrong_batches({.mode = Mode::late, .seed = seed}, -1) == 0);
  CHECK(wrong_batches({.mode = Mode::threaded}, -1) == 0);
  CHECK(wrong_batches({.mode = Mode::threaded, .seed = 3, .max_delay_us = 100}, -1) == 0);
  for (const Mode mode : {Mode::late, Mode::threaded}) {
    std::vector<std::string> findings;
    CHECK(wrong_batches({.mode = mode, .checked = true}, -1, &findings) == 0);
    CHECK(findings.empty());
  }
}

TEST_CASE("a ring without one of its edges gives wrong batches on an emulated device that is late") {
  // Each of them for some order of steps; where the host forgets to wait, as late as can be is enough.
  CHECK(wrong_batches({.mode = Mode::late}, Staging::pinned_is_free) > 20);
  for (int edge = 0; edge < Staging::edges; ++edge) {
    int found = 0;
    for (std::uint64_t seed = 0; seed < 20; ++seed)
      found += wrong_batches({.mode = Mode::late, .seed = seed}, edge) > 0;
    INFO("edge " << edge);
    CHECK(found >= 10);
  }
}

TEST_CASE("a checked emulated device names what no event orders, also where all went well") {
  const char* const says[] = {"the host writes (the program) what stream \"copy\" reads (copy)",
                              "stream \"prep\" reads (prepare) what stream \"copy\" writes (copy)",
                              "stream \"copy\" writes (copy) what stream \"prep\" reads (prepare)",
                              "stream \"consumer\" reads (step) what stream \"prep\" writes (prepare)",
                              "stream \"prep\" writes (prepare) what stream \"consumer\" reads (step)"};
  for (int edge = 0; edge < Staging::edges; ++edge) {
    std::vector<std::string> findings;
    // Late, where nothing runs at the same time: ThreadSanitizer would find these races first.
    static_cast<void>(wrong_batches({.mode = Mode::late, .checked = true}, edge, &findings));
    INFO("edge " << edge);
    REQUIRE_FALSE(findings.empty());
    bool named = false;
    for (const std::string& finding : findings) named |= finding.starts_with(says[edge]);
    CHECK(named);
  }
  EmulatedDevice device(some_gpu, {.checked = true});
  const auto stream = device.make_stream("a", DeviceModel::Priority::normal);
  const auto event = device.make_event();
  device.wait(stream->ref(), *event);
  REQUIRE(device.findings().size() == 1);
  CHECK(device.findings()[0] == "a stream waits for an event that was never recorded");
}

TEST_CASE("memory of an emulated device has hard limits, and is not taken back under what uses it") {
  EmulatedDevice device(some_gpu, {.mode = Mode::late, .max_device_bytes = 1000, .max_pinned_bytes = 500});
  CHECK(code_of([&] { Block(device.device_memory(), 1001); }) == ps::Errc::out_of_memory);
  CHECK(code_of([&] { Block(device.pinned_memory(), 501); }) == ps::Errc::out_of_memory);
  const auto stream = device.make_stream("a", DeviceModel::Priority::normal);
  bool done = false;
  {
    const Block block(device.device_memory(), 1000);
    device.launch(stream->ref(), "late", [&, data = block.data()] {
      std::memset(data, 1, 1000);
      done = true;
    });
    CHECK_FALSE(done);
  }
  CHECK(done);
}

TEST_CASE("every call of an emulated device can be made to fail, once or for ever") {
  std::uint64_t calls = 0;
  {
    EmulatedDevice device(some_gpu, {.mode = Mode::late});
    static_cast<void>(Staging(device, -1).run(5));
    calls = device.calls();
  }
  REQUIRE(calls > 50);
  for (const Mode mode : {Mode::late, Mode::threaded})
    for (const bool for_ever : {false, true})
      for (std::uint64_t call = 1; call <= calls; ++call) {
        EmulatedDevice device(some_gpu,
                              {.mode = mode, .fault = {call, for_ever ? EmulatedOptions::Fault::for_ever : 1}});
        const ps::Errc code = code_of([&] { static_cast<void>(Staging(device, -1).run(5)); });
        REQUIRE(code == ps::Errc::device);
      }
}

TEST_CASE("a kernel that fails, fails an emulated device for good") {
  for (const Mode mode : {Mode::late, Mode::threaded}) {
    EmulatedDevice device(some_gpu, {.mode = mode});
    const auto stream = device.make_stream("a", DeviceModel::Priority::normal);
    bool ran = false;
    device.launch(stream->ref(), "trap", [] { throw std::runtime_error("a bad address"); });
    CHECK(code_of([&] { device.synchronize(stream->ref()); }) == ps::Errc::device);
    try {
      device.launch(stream->ref(), "next", [&] { ran = true; });
      FAIL("it goes on");
    } catch (const ps::Error& error) {
      CHECK(error.cause() == "next: the device failed before: trap: a bad address");
    }
    CHECK_FALSE(ran);
  }
}

TEST_CASE("a stream of an emulated device that is captured runs nothing, and what is none of the graph's spoils it") {
  for (const Mode mode : {Mode::late, Mode::threaded}) {
    EmulatedDevice device(some_gpu, {.mode = mode, .checked = true});
    const auto stream = device.make_stream("a", DeviceModel::Priority::normal);
    const auto other = device.make_stream("b", DeviceModel::Priority::normal);
    const auto event = device.make_event();
    device.record(*event, other->ref());
    int ran = 0;
    const auto work = [&] { ++ran; };
    const auto spoilt_by = [&](auto&& call) {
      device.begin_capture(stream->ref());
      CHECK(device.captures(stream->ref()));
      CHECK_FALSE(device.captures(other->ref()));
      call();
      const auto error = error_of([&] { device.end_capture(stream->ref()); });
      CHECK_FALSE(device.captures(stream->ref()));
      return error ? error->cause() : "nothing";
    };
    CHECK(spoilt_by([&] {
            device.launch(stream->ref(), "work", work);
            device.record(*event, other->ref());
            device.wait(other->ref(), *event);
            device.synchronize(*event);
            device.synchronize(other->ref());
          }) == "nothing");
    CHECK(spoilt_by([&] { device.record(*event, stream->ref()); }) == "the capture was spoilt by an event");
    CHECK(spoilt_by([&] { CHECK(code_of([&] { device.wait(stream->ref(), *event); }) == ps::Errc::device); }) ==
          "the capture was spoilt by a wait for an event");
    CHECK(spoilt_by([&] { CHECK(code_of([&] { device.synchronize(stream->ref()); }) == ps::Errc::device); }) ==
          "the capture was spoilt by the host's wait for the stream");
    CHECK(spoilt_by([&] { CHECK_FALSE(device.settle()); }) ==
          "the capture was spoilt by the host's wait for the device");
    CHECK(device.settle());
    CHECK(ran == 0);
    device.launch(stream->ref(), "work", work);
    device.synchronize(stream->ref());
    CHECK(ran == 1);
    CHECK(code_of([&] { device.end_capture(stream->ref()); }) == ps::Errc::invalid_argument);
  }
}

TEST_CASE("a thread that enters an emulated device and never leaves it is found") {
  EmulatedDevice device(some_gpu, {.checked = true});
  for (int i = 0; i < 100; ++i) const penstock::detail::DeviceGuard entered(device), again(device);
  CHECK(device.findings().empty());
  for (int i = 0; i < 100; ++i) static_cast<void>(device.enter());
  CHECK(device.findings().size() == 1);
  for (int i = 0; i < 100; ++i) device.leave(0);
  std::jthread([&] {
    for (int i = 0; i < 100; ++i) const penstock::detail::DeviceGuard entered(device);
    static_cast<void>(device.enter());
  }).join();
  CHECK(device.findings().size() == 1);
}

TEST_CASE("streams of an emulated device that came and went leave nothing behind") {
  for (const Mode mode : {Mode::late, Mode::threaded}) {
    EmulatedDevice device(some_gpu, {.mode = mode, .checked = true});
    const unsigned before = thread_count();
    int done = 0;
    for (int i = 0; i < 50; ++i) {
      const auto a = device.make_stream("a", DeviceModel::Priority::normal);
      const auto b = device.make_stream("b", DeviceModel::Priority::normal);
      device.launch(a->ref(), "first", [&] { ++done; }, {{&done, sizeof done, true}});
      const auto event = device.make_event();
      device.record(*event, a->ref());
      device.wait(b->ref(), *event);
      device.launch(b->ref(), "second", [&] { ++done; }, {{&done, sizeof done, true}});
    }
    CHECK(done == 100);
    CHECK(device.findings().empty());
    CHECK(eventually([&] { return thread_count() == before; }));
  }
}

TEST_CASE("copies of an emulated device over its link are no faster than was said, and what stays on it is") {
  EmulatedDevice device(some_gpu, {.max_copy_bytes_per_s = 10'000'000});
  const auto stream = device.make_stream("a", DeviceModel::Priority::normal);
  constexpr std::size_t bytes = 1'000'000;
  void* const pinned = device.pinned_memory().allocate(bytes, 64);
  void* const here = device.device_memory().allocate(bytes, 64);
  void* const there = device.device_memory().allocate(bytes, 64);
  const auto timer = device.make_timer();
  REQUIRE(timer != nullptr);
  const auto took = [&](void* to, const void* from) {
    timer->begin(stream->ref());
    device.copy(to, from, bytes, stream->ref());
    timer->end(stream->ref());
    device.synchronize(stream->ref());
    const std::optional<std::uint64_t> ns = timer->read();
    REQUIRE(ns.has_value());
    return *ns;
  };
  CHECK(took(here, pinned) >= 100'000'000);
  CHECK(took(pinned, here) >= 100'000'000);
  CHECK(took(there, here) < 50'000'000);
  device.pinned_memory().deallocate(pinned, bytes, 64);
  device.device_memory().deallocate(here, bytes, 64);
  device.device_memory().deallocate(there, bytes, 64);
  // Where nothing happens before somebody waits for it, there is no time.
  EmulatedDevice late(some_gpu, {.mode = Mode::late});
  CHECK(late.make_timer() == nullptr);
}
