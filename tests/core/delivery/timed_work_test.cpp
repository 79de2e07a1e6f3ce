// SPDX-License-Identifier: Apache-2.0
// Stretches of a stream's work: which are timed, and what those that are not count as.
#include "support/catch.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <penstock/memory.hpp>

#include "core/device/forwarding_device.hpp"
#include "delivery/timed_work.hpp"
#include "device/emulated/host_device.hpp"

namespace {

namespace pd = penstock::detail::runtime;

// Timers that read what the test says, once it says so.
class Clocked final : public help::ForwardingDevice {
 public:
  Clocked() : ForwardingDevice(std::make_shared<penstock::detail::HostDevice>(penstock::host_memory())) {}
  std::unique_ptr<Timer> make_timer() override {
    if (times == nullptr) return nullptr;
    return std::make_unique<Told>(*this);
  }
  std::vector<std::optional<std::uint64_t>>* times = nullptr;  // of each stretch that was timed, as they began
  std::size_t begun = 0;

 private:
  struct Told final : Timer {
    explicit Told(Clocked& its) : device(its) {}
    void begin(penstock::StreamRef) override { number = device.begun++; }
    void end(penstock::StreamRef) override {}
    std::optional<std::uint64_t> read() override { return device.times->at(number); }
    Clocked& device;
    std::size_t number = 0;
  };
};

}  // namespace

TEST_CASE("stretches beyond the timers are not timed, and the next one that is stands for them") {
  std::vector<std::optional<std::uint64_t>> times(10);
  Clocked device;
  device.times = &times;
  pd::TimedWork work(device);
  const auto stretch = [&](std::size_t bytes) {
    work.begin({});
    work.end({}, bytes);
  };
  for (std::size_t i = 0; i < pd::TimedWork::timers + 3; ++i) stretch(10);
  CHECK(device.begun == pd::TimedWork::timers);
  CHECK(work.counts().timed == 0);
  for (auto& time : times) time = 100;
  times[4] = 1000;
  stretch(20);  // reads the four before, and stands for three
  CHECK(work.counts().timed == 4);
  CHECK(work.counts().stood_for == 4);
  CHECK(work.counts().ns == 400);
  CHECK(work.counts().bytes == 40);
  work.begin({});
  CHECK(work.counts().timed == 5);
  CHECK(work.counts().stood_for == 8);
  CHECK(work.counts().ns == 4400);
  CHECK(work.counts().bytes == 120);
  // One that never ends counts as nothing.
  stretch(1);
  work.begin({});
  CHECK(work.counts().timed == 6);
  CHECK(work.counts().stood_for == 9);
}

TEST_CASE("a device without a clock times nothing") {
  Clocked device;
  pd::TimedWork work(device), none;
  for (pd::TimedWork* each : {&work, &none}) {
    each->begin({});
    each->end({}, 5);
    each->begin({});
    CHECK(each->counts().timed == 0);
  }
}
