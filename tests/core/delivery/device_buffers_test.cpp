// SPDX-License-Identifier: Apache-2.0
// The engine's buffers come back from the devices that read them: several by one wake-up, and none before it was read.
#include "support/catch.hpp"

#include <atomic>
#include <thread>

#include "core/delivery/stamped_rows.hpp"
#include "core/device/forwarding_device.hpp"
#include "device/devices.hpp"
#include "device/emulated/emulated_device.hpp"

using namespace help;
using penstock::detail::EmulatedDevice;
using Mode = ps::EmulatedGpuOptions::Mode;

namespace {

constexpr std::uint64_t batch_rows = 4, buffers = 4;
constexpr std::int64_t bytes_of_row = 64;

ps::Pipeline stamps(std::uint64_t batches) {
  return ps::from(Stamped{batches * batch_rows, bytes_of_row}) | ps::batch(batch_rows);
}

// No wait of a loader's thread for an event ends before `open`. They are counted.
class HeldDevice final : public ForwardingDevice {
 public:
  static std::shared_ptr<HeldDevice> make(const ps::EmulatedGpuOptions& options) {
    auto device = std::make_shared<HeldDevice>(std::make_shared<EmulatedDevice>(next_device(), options));
    penstock::detail::register_device(device);
    return device;
  }
  explicit HeldDevice(std::shared_ptr<EmulatedDevice> inner) : ForwardingDevice(inner), emulated_(*inner) {}

  void open() {
    open_ = true;
    open_.notify_all();
  }
  /// Where this copy was read is not recorded: that call fails, once a loader's thread waits for an earlier one.
  void fail_after_copy(std::uint64_t number) { failing_ = number; }

  std::uint64_t waits() const { return waits_; }
  bool asked_what_failed() const { return asked_what_failed_; }
  std::vector<std::string> findings() const { return emulated_.findings(); }

  void synchronize(const Event& event) override {
    ForwardingDevice::synchronize(event);
    if (std::this_thread::get_id() == test_) return;
    ++waits_;
    waits_.notify_all();
    open_.wait(false);
  }
  using ForwardingDevice::synchronize;
  bool reached(const Event& event) override {
    if (&event == failed_) asked_what_failed_ = true;
    return ForwardingDevice::reached(event);
  }
  void copy(void* to, const void* from, std::size_t bytes, ps::StreamRef stream) override {
    ForwardingDevice::copy(to, from, bytes, stream);
    ++copies_;
  }
  void record(Event& event, ps::StreamRef stream) override {
    if (std::this_thread::get_id() != test_ && failing_ != 0 && copies_ == failing_) {
      waits_.wait(0);
      failing_ = 0;
      failed_ = &event;
      throw ps::Error(ps::Errc::device, "planted");
    }
    ForwardingDevice::record(event, stream);
    if (&event == failed_) failed_ = nullptr;
  }

 private:
  const EmulatedDevice& emulated_;
  const std::thread::id test_ = std::this_thread::get_id();
  std::atomic<bool> open_{false}, asked_what_failed_{false};
  std::atomic<std::uint64_t> waits_{0};
  std::uint64_t copies_ = 0, failing_ = 0;  // 0: none; the submitter's
  std::atomic<const Event*> failed_{nullptr};
};

// Whatever ends a test: a loader's end waits for its threads.
struct Opens {
  const std::vector<std::shared_ptr<HeldDevice>>& devices;
  ~Opens() {
    for (const auto& device : devices) device->open();
  }
};

void check_no_findings(const HeldDevice& device) {
  for (const std::string& finding : device.findings()) FAIL_CHECK(finding);
}

}  // namespace

TEST_CASE("buffers that a device read while one was waited for go back with that one") {
  const Watchdog watchdog(60s);
  for (const Mode mode : {Mode::late, Mode::threaded}) {
    const std::vector devices{HeldDevice::make({.mode = mode, .checked = true})};
    {
      ps::Loader loader(
          stamps(buffers),
          {.device = devices[0]->device(), .threads = 1, .depth = buffers, .device_depth = buffers, .epochs = 1});
      const Opens opens{devices};
      // The host waits for each, so it was read.
      for (std::uint64_t i = 0; i < buffers; ++i) REQUIRE(loader.next());
    }
    CHECK(devices[0]->waits() == 1);
    check_no_findings(*devices[0]);
  }
}

TEST_CASE("a buffer that one of several devices still reads does not go back with those that all of them read") {
  const Watchdog watchdog(60s);
  for (const std::size_t slow : {0u, 1u}) {
    INFO("device " << slow << " is slow");
    std::vector<std::shared_ptr<HeldDevice>> devices;
    for (int i = 0; i < 2; ++i) devices.push_back(HeldDevice::make({.mode = Mode::late, .checked = true}));
    {
      // Nobody waits for this one, and so the slow device does nothing.
      const auto stream = devices[slow]->make_stream("consumer", HeldDevice::Priority::normal);
      ps::Loader loader(stamps(buffers), {.devices = {devices[0]->device(), devices[1]->device()},
                                          .threads = 1,
                                          .depth = buffers,
                                          .device_depth = buffers,
                                          .epochs = 1});
      const Opens opens{devices};
      std::vector<ps::StreamRef> streams(2);
      streams[slow] = stream->ref();
      for (std::uint64_t i = 0; i < buffers; ++i) REQUIRE(loader.next_parts(streams));
    }
    for (const auto& device : devices) check_no_findings(*device);
  }
}

TEST_CASE("a buffer whose copy failed while an earlier one was waited for is not taken for one that was read") {
  const Watchdog watchdog(60s);
  constexpr std::uint64_t batches = 10;
  for (const Mode mode : {Mode::late, Mode::threaded}) {
    const std::vector devices{HeldDevice::make({.mode = mode, .checked = true})};
    HeldDevice& device = *devices[0];
    device.fail_after_copy(2);
    {
      ps::Loader loader(
          stamps(batches),
          {.device = device.device(), .threads = 1, .depth = buffers, .device_depth = buffers, .epochs = 1});
      const Opens opens{devices};
      REQUIRE(loader.next());
      const auto error = error_of([&] { static_cast<void>(loader.next()); });
      REQUIRE(error);
      CHECK(error->cause() == "planted");
      device.open();
      loader.resume(loader.state());
      std::uint64_t number = 1;
      while (const auto batch = loader.next()) {
        CHECK(batch->number() == number);
        CHECK(wrong_rows((*batch)["x"].data, bytes_of_row, batch_rows, number * batch_rows) == 0);
        ++number;
      }
      CHECK(number == batches);
    }
    CHECK_FALSE(device.asked_what_failed());
    check_no_findings(device);
  }
}
