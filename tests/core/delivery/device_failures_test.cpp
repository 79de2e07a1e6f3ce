// SPDX-License-Identifier: Apache-2.0
// Every call of the device fails in its turn, once or from then on: nothing hangs, nothing is lost or wrong, and what
// came before is delivered first.
#include "support/catch.hpp"

#include <atomic>
#include <thread>

#include <penstock/extend/device_stage.hpp>

#include "core/delivery/device_help.hpp"
#include "core/device/forwarding_device.hpp"
#include "device/devices.hpp"
#include "device/emulated/emulated_device.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace help;
using penstock::detail::EmulatedDevice;

namespace {

const ps::Pipeline& pipeline() {
  static const ps::Pipeline p = ps::from(Records{.count = 30}) | ps::shuffle() | ps::batch(4);
  return p;
}

// Adds what it draws to the first byte of each row.
struct Stir {
  std::uint32_t draw(ps::Rng& rng) const { return static_cast<std::uint32_t>(rng.below(100)); }
  ps::Schema schema(const ps::Schema& in) const { return in; }
  std::vector<std::string> writes() const { return {"x"}; }
  void run(ps::BatchView in, ps::BatchView out, ps::StreamRef stream) const {
    const ps::TensorView from = in["x"], to = out["x"];
    const std::byte* const draws = in.draws;
    const std::uint64_t rows = in.rows, row = from.bytes() / rows;
    ps::launch_on_host(stream, "stir", [=] {
      std::memcpy(to.data, from.data, rows * row);
      for (std::uint64_t r = 0; r < rows; ++r)
        to.data[r * row] = static_cast<std::byte>(std::to_integer<int>(to.data[r * row]) +
                                                  std::to_integer<int>(draws[r * sizeof(std::uint32_t)]));
    });
  }
};
const ps::Pipeline& stages() {
  static const ps::Pipeline p = pipeline() | Stir{} | Stir{};
  return p;
}

struct Outcome {
  std::vector<Got> got;
  std::optional<ps::Error> error;  // the first
  bool began = false;              // to take batches
  bool recovered = false;          // it brought a whole epoch afterwards
  bool whole = false;              // and all batches of its ring can be held at once
};

// A small epoch, and another one where the first failed.
Outcome run(ps::EmulatedGpu& gpu, const ps::Pipeline& p) {
  Outcome out;
  std::optional<ps::Loader> loader;
  out.error =
      error_of([&] { loader.emplace(p, ps::LoaderOptions{.device = gpu.device(), .threads = 2, .device_depth = 2}); });
  if (!loader) return out;
  std::optional<DeviceConsumer> consumer;
  out.error = error_of([&] { consumer.emplace(gpu); });
  if (!consumer) return out;
  out.began = true;
  ps::State done = loader->state();  // after the last step that is known to be done
  out.error = error_of([&] {
    for (ps::Batch& batch : loader->epoch(consumer->ref())) {
      consumer->step(batch);
      // Waits for each, so that a failing device can't leave a step undone unnoticed.
      const std::vector<Got> now = consumer->finish();
      out.got.insert(out.got.end(), now.begin(), now.end());
      done = loader->state();
    }
  });
  if (!out.error) return out;
  out.recovered = done.epoch != 0;  // only the end of the epoch was still to be told
  for (int tries = 0; tries < 4 && !out.recovered; ++tries) {
    std::vector<Got> again;
    const auto error = error_of([&] {
      DeviceConsumer other(gpu);
      loader->resume(done);
      for (ps::Batch& batch : loader->epoch(other.ref())) other.step(batch);
      again = other.finish();
    });
    if (error) continue;
    out.got.insert(out.got.end(), again.begin(), again.end());
    out.recovered = true;
  }
  // No batch of the ring is missing.
  if (out.recovered) {
    std::optional<DeviceConsumer> third;
    for (int tries = 0; tries < 4 && !out.whole; ++tries) {
      std::vector<ps::Batch> held;
      static_cast<void>(error_of([&] {
        third.emplace(gpu);
        for (int i = 0; held.size() < 2 && i < 4; ++i)  // an epoch may end before
          if (auto batch = loader->next(third->ref())) held.push_back(std::move(*batch));
        out.whole = held.size() == 2;
      }));
    }
  }
  return out;
}

}  // namespace

namespace {
void fail_every_call(const ps::Pipeline& p) {
  const std::vector<Got> expected = collect(p, {.threads = 1});
  for (const Mode mode : {Mode::late, Mode::threaded}) {
    std::uint64_t calls = 0;
    {
      ps::EmulatedGpu gpu({.mode = mode});
      const Outcome all = run(gpu, p);
      REQUIRE_FALSE(all.error);
      REQUIRE(all.got == expected);
      calls = gpu.calls();
    }
    REQUIRE(calls > 60);
    const std::uint64_t step = sanitized() ? 3 : 1;
    std::uint64_t recovered = 0;
    for (const bool for_ever : {false, true})
      for (std::uint64_t call = 1; call <= calls + 10; call += step) {
        ps::EmulatedGpu gpu(
            {.mode = mode, .checked = true, .fault = {call, for_ever ? ps::EmulatedGpuOptions::Fault::for_ever : 1}});
        INFO("call " << call << (for_ever ? ", for ever" : ", once") << ", mode " << static_cast<int>(mode));
        {
          const Outcome outcome = run(gpu, p);
          // What came is right, and in order.
          REQUIRE(outcome.got.size() <= expected.size());
          for (std::size_t i = 0; i < outcome.got.size(); ++i) REQUIRE(outcome.got[i] == expected[i]);
          if (outcome.error) {
            REQUIRE(outcome.error->code() == ps::Errc::device);
          } else {
            REQUIRE(outcome.got.size() == expected.size());
          }
          if (!for_ever && outcome.began && outcome.error) {
            // One failure is over: nothing is missing.
            REQUIRE(outcome.recovered);
            REQUIRE(outcome.whole);
            REQUIRE(outcome.got == expected);
            ++recovered;
          }
        }
        CHECK(gpu.device_bytes_used() == 0);
        CHECK(gpu.pinned_bytes_used() == 0);
        for (const std::string& finding : gpu.findings()) UNSCOPED_INFO(finding);
        CHECK((for_ever || gpu.findings().empty()));
      }
    CHECK(recovered > 20);
  }
}
}  // namespace

TEST_CASE("whichever call of a device fails, the loader says so in order, and goes on where the device does") {
  const Watchdog watchdog(240s);
  fail_every_call(pipeline());
}
TEST_CASE("the same with stages after batch") {
  const Watchdog watchdog(240s);
  fail_every_call(stages());
}

namespace {
// Where leases end, and nowhere else, the caller enters the device.
class FailsToBeEntered final : public ForwardingDevice {
 public:
  using ForwardingDevice::ForwardingDevice;
  /// The calling thread's next ones.
  void fail(std::uint64_t entries) {
    caller_ = std::this_thread::get_id();
    failing_ = entries;
  }
  std::uint64_t failing() const { return failing_; }
  int enter() override {
    if (failing_ != 0 && std::this_thread::get_id() == caller_) {
      --failing_;
      throw ps::Error(ps::Errc::device, "planted");
    }
    return ForwardingDevice::enter();
  }

 private:
  std::thread::id caller_;
  std::atomic<std::uint64_t> failing_{0};
};
}  // namespace

TEST_CASE("a device that fails where leases end loses their batches' memory, says so once, and goes on with the rest") {
  const Watchdog watchdog(60s);
  for (const Mode mode : {Mode::late, Mode::threaded})
    for (const std::uint64_t lost : {1u, 2u, 3u}) {
      const auto gpu = std::make_shared<EmulatedDevice>(next_device(), ps::EmulatedGpuOptions{.mode = mode});
      const auto device = std::make_shared<FailsToBeEntered>(gpu);
      penstock::detail::register_device(device);
      const auto stream = gpu->make_stream("consumer", FailsToBeEntered::Priority::normal);
      std::optional<ps::Loader> loader;
      loader.emplace(pipeline(),
                     ps::LoaderOptions{.device = device->device(), .threads = 1, .depth = 2, .device_depth = 3});
      std::vector<ps::Batch> held;
      for (std::uint64_t i = 0; i < lost; ++i) held.push_back(loader->next(stream->ref()).value());
      device->fail(2 * lost);  // an end of a lease that enters the device in vain tries once more
      held.clear();
      CHECK(device->failing() == 0);
      std::uint64_t told = 0, delivered = 0;
      for (int i = 0; i < 30; ++i) {
        const auto error = error_of([&] { delivered += loader->next(stream->ref()).has_value() ? 1 : 0; });
        if (!error) continue;
        REQUIRE(error->code() == ps::Errc::device);
        CHECK(error->cause().find(std::to_string(3 - lost) + " of 3 batches are left") != std::string::npos);
        ++told;
      }
      CHECK(told == (lost < 3 ? 1 : 30));
      CHECK((lost == 3 || delivered > 15));
      loader.reset();
      CHECK(gpu->used(ps::MemoryKind::device) == 0);
    }
}

TEST_CASE("a stream that the device refused once is asked again, and then waits") {
  const std::vector<Got> expected = collect(pipeline(), {.threads = 1});
  for (const Mode mode : {Mode::late, Mode::threaded}) {
    bool refused = false;
    for (std::uint64_t call = 1; call < 120; ++call) {
      ps::EmulatedGpu gpu({.mode = mode, .checked = true, .fault = {call}});
      static_cast<void>(error_of([&] {
        DeviceConsumer first(gpu, "first"), second(gpu, "second");
        ps::Loader loader(pipeline(), {.device = gpu.device(), .threads = 1, .device_depth = 2});
        while (auto batch = loader.next(first.ref())) {
          const auto error = error_of([&] { batch->also_used_on(second.ref()); });
          refused |= error.has_value();
          if (error) batch->also_used_on(second.ref());
          second.step(*batch);
        }
        const std::vector<Got> got = second.finish();
        for (std::size_t i = 0; i < got.size(); ++i) REQUIRE(got[i] == expected[i]);
      }));
      for (const std::string& finding : gpu.findings()) FAIL(finding);
    }
    CHECK(refused);
  }
}

TEST_CASE("a kernel that fails ends the run on a device, and nothing hangs") {
  const Watchdog watchdog(60s);
  for (const Mode mode : {Mode::late, Mode::threaded}) {
    ps::EmulatedGpu gpu({.mode = mode});
    auto stream = gpu.make_stream("consumer");
    ps::Loader loader(pipeline(), {.device = gpu.device(), .threads = 2});
    int steps = 0;
    const auto error = error_of([&] {
      for (int epoch = 0; epoch < 50; ++epoch)
        for ([[maybe_unused]] ps::Batch& batch : loader.epoch(stream.ref()))
          if (++steps == 3) {
            stream.launch("trap", [] { throw std::runtime_error("a bad address"); });
            static_cast<void>(error_of([&] { stream.synchronize(); }));
          }
    });
    REQUIRE(error);
    CHECK(error->code() == ps::Errc::device);
    // It stays what it is.
    CHECK(error_of([&] {
            for (int i = 0; i < 20; ++i) static_cast<void>(loader.next(stream.ref()));
          })->code() == ps::Errc::device);
  }
}

}  // namespace PENSTOCK_TEST_FILE
