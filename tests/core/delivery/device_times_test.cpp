// SPDX-License-Identifier: Apache-2.0
// What a report knows of the way to a device, by its streams' own clock.
#include "support/catch.hpp"

#include <chrono>
#include <string>
#include <thread>

#include <penstock/emulated_gpu.hpp>
#include <penstock/extend/device_stage.hpp>

#include "core/delivery/device_help.hpp"
#include "delivery/device_counts.hpp"
#include "support/json.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace help;
using penstock_test::Json;

namespace {

// Batches of 64 rows of 16 KiB: 1 MiB each.
struct Wide {
  std::uint64_t count = 0;
  std::uint64_t size() const { return count; }
  ps::Schema schema() const { return {{"x", ps::DType::i64, {2048}}}; }
  std::uint64_t identity() const { return count; }
  void read(std::uint64_t i, ps::SampleBuilder& out) const {
    for (std::int64_t& value : out.emplace<std::int64_t, 1>("x", {2048})) value = static_cast<std::int64_t>(i);
  }
};

ps::Pipeline wide(std::uint64_t batches) { return ps::from(Wide{64 * batches}) | ps::batch(64); }

// A stage on the device that takes so long for a batch, and changes nothing.
struct Sleeps {
  std::chrono::milliseconds time;
  ps::Schema schema(const ps::Schema& in) const { return in; }
  void run(ps::BatchView, ps::BatchView, ps::StreamRef stream) const {
    ps::launch_on_host(stream, "sleeps", [time = time] { std::this_thread::sleep_for(time); });
  }
};

// A consumer that puts so much work for each batch on its stream, and never waits for it.
ps::Report run(ps::EmulatedGpu& gpu, const ps::Pipeline& pipeline, std::chrono::milliseconds work = 0ms) {
  ps::EmulatedGpu::Stream stream = gpu.make_stream("consumer");
  ps::Loader loader(pipeline, {.device = gpu.device(), .threads = 2, .epochs = 1});
  for (const ps::Batch& batch : loader.epoch(stream.ref())) {
    static_cast<void>(batch);
    if (work != 0ms) stream.launch("work", [work] { std::this_thread::sleep_for(work); });
  }
  stream.synchronize();
  return loader.report();
}

// What is said of a run, where other processes did not have the cores: then that is said.
bool is_told(const ps::Report& r, ps::Bound bound, const std::string& begin) {
  return r.bound == ps::Bound::other_processes || (r.bound == bound && r.verdict.find(begin) == 0);
}

}  // namespace

TEST_CASE("copies over a slow link are timed by the stream that makes them, and the run is theirs") {
  const Watchdog dog(120s);
  ps::EmulatedGpu gpu({.max_copy_bytes_per_s = 50'000'000});  // 21 ms a batch
  const ps::Report r = run(gpu, wide(40));
  CAPTURE(r.text());
  REQUIRE(r.devices.size() == 1);
  const ps::DeviceReport& d = r.devices[0];
  CHECK(d.name == to_string(gpu.device()));
  CHECK(d.copies.timed >= 4);
  CHECK(d.copies.timed < 40);
  CHECK(d.copies.us >= 20'900);
  CHECK(d.copies.us < 60'000);
  CHECK(d.copies.share > 0.5);
  CHECK(d.copy_bytes_per_s <= 50'500'000);
  CHECK(d.copy_bytes_per_s > 15'000'000);
  CHECK(d.stages.timed == 0);
  CHECK(d.starved.share > 0.3);
  REQUIRE(r.sending.has_value());
  CHECK(r.sending->read_share > 0.5);
  CHECK(is_told(r, ps::Bound::copies, "Copies to " + d.name));
  CHECK(r.text().find("  " + d.name + ": copies ") != std::string::npos);
  const auto json = Json::parse(r.json());
  if (r.bound == ps::Bound::copies) CHECK(json["bound"] == "copies");
  CHECK(json["devices"][0]["copies"]["us"] == d.copies.us);
  CHECK(json["devices"][0]["starved"]["share"] == d.starved.share);
  CHECK(json["sending"]["read_share"] == r.sending->read_share);
}

TEST_CASE("a stream with work of its own doesn't starve, and the run is the caller's, whom the host doesn't see wait") {
  const Watchdog dog(120s);
  ps::EmulatedGpu gpu;
  const ps::Report r = run(gpu, wide(60), 20ms);
  CAPTURE(r.text());
  REQUIRE(r.devices.size() == 1);
  CHECK(r.devices[0].starved.timed > 0);
  CHECK(r.devices[0].starved.share < 0.1);
  CHECK(r.devices[0].copies.share < 0.5);
  CHECK(r.devices[0].buffer.share > 0.2);  // copies wait for memory that the work uses
  CHECK(r.consumer_wait_share > 0.5);
  CHECK(is_told(r, ps::Bound::consumer, "The caller's work on " + r.devices[0].name));
}

TEST_CASE("where nothing keeps time, and on the host, nothing is said of it") {
  const Watchdog dog(120s);
  ps::EmulatedGpu late({.mode = ps::EmulatedGpuOptions::Mode::late});
  const ps::Report r = run(late, wide(8));
  REQUIRE(r.devices.size() == 1);
  CHECK(r.devices[0].copies.timed == 0);
  CHECK(r.text().find("copies ") == std::string::npos);
  CHECK(Json::accept(r.json()));

  ps::Loader on_host(wide(8), {.epochs = 1});
  while (on_host.next()) {
  }
  CHECK(on_host.report().devices.empty());
  CHECK_FALSE(on_host.report().sending.has_value());
  CHECK(Json::parse(on_host.report().json())["sending"].is_null());

  // On the host's own stream the caller waits itself.
  ps::EmulatedGpu gpu({.max_copy_bytes_per_s = 100'000'000});
  ps::Loader loader(wide(20), {.device = gpu.device(), .threads = 2, .epochs = 1});
  while (loader.next()) {
  }
  REQUIRE(loader.report().devices.size() == 1);
  CHECK(loader.report().devices[0].starved.timed == 0);
  CHECK(loader.report().devices[0].copies.us > 10'000);
  CHECK(is_told(loader.report(), ps::Bound::copies, "Copies to "));
}

TEST_CASE("each of several devices is timed for itself, for its rows of each batch") {
  const Watchdog dog(120s);
  ps::EmulatedGpu slow({.max_copy_bytes_per_s = 20'000'000}), fast;
  ps::EmulatedGpu::Stream a = slow.make_stream("a"), b = fast.make_stream("b");
  ps::Loader loader(wide(20), {.devices = {slow.device(), fast.device()}, .threads = 2, .epochs = 1});
  const ps::StreamRef streams[] = {a.ref(), b.ref()};
  while (loader.next_parts(streams)) {
  }
  a.synchronize();
  b.synchronize();
  const ps::Report r = loader.report();
  CAPTURE(r.text());
  REQUIRE(r.devices.size() == 2);
  CHECK(r.devices[0].name == to_string(slow.device()));
  CHECK(r.devices[0].copies.us > 26'000);  // half a batch
  CHECK(r.devices[0].copies.us > 3 * r.devices[1].copies.us);
  CHECK(is_told(r, ps::Bound::copies, "Copies to " + r.devices[0].name));
}

TEST_CASE("stages after batch are timed, those of a batch together, and named where they take the time") {
  const Watchdog dog(120s);
  ps::EmulatedGpu gpu;
  const ps::Report r = run(gpu, wide(40) | ps::device_stage(Sleeps{10ms}) | ps::device_stage(Sleeps{10ms}));
  CAPTURE(r.text());
  REQUIRE(r.devices.size() == 1);
  CHECK(r.devices[0].stages.us >= 20'000);
  CHECK(r.devices[0].stages.us < 60'000);
  CHECK(r.devices[0].stages.share > 0.5);
  CHECK(r.devices[0].copies.share < 0.3);
  CHECK(r.text().find(", stages ") != std::string::npos);
  CHECK(is_told(r, ps::Bound::device, "The stages on " + r.devices[0].name));
}

TEST_CASE("only what came after the last change of a tuned loader is told of its devices") {
  const ps::detail::runtime::DeliveryTimes before{{{"d", {4, 8, 400, 40}, {2, 2, 20, 0}, {1, 1, 10, 0}, {3, 3, 30, 0}}},
                                                  {1, 2, 3, 4}};
  const ps::detail::runtime::DeliveryTimes now{{{"d", {9, 20, 1000, 90}, {5, 5, 70, 0}, {4, 4, 60, 0}, {8, 8, 50, 0}}},
                                               {11, 22, 33, 44}};
  const ps::detail::runtime::DeliveryTimes after = since(now, before);
  CHECK(after.devices[0].copies.timed == 5);
  CHECK(after.devices[0].copies.stood_for == 12);
  CHECK(after.devices[0].copies.ns == 600);
  CHECK(after.devices[0].copies.bytes == 50);
  CHECK(after.devices[0].stages.ns == 50);
  CHECK(after.devices[0].buffer.ns == 50);
  CHECK(after.devices[0].starved.ns == 20);
  CHECK(after.sending.batch_ns == 10);
  CHECK(after.sending.buffer_ns == 20);
  CHECK(after.sending.read_ns == 30);
  CHECK(after.sending.call_ns == 40);
}

}  // namespace PENSTOCK_TEST_FILE
