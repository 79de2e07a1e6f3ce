// SPDX-License-Identifier: Apache-2.0
// Each wait that holds staging together is needed: a loader whose device leaves one kind out is found out, by its rows
// and by the device's own checks, and one whose device leaves out none is not. And what a loader takes from a device it
// takes at its beginning.
#include "support/catch.hpp"

#include <atomic>
#include <thread>

#include <penstock/extend/device_stage.hpp>

#include "core/delivery/takes_no_more.hpp"
#include "core/device/sabotaged_device.hpp"
#include "device/devices.hpp"
#include "device/emulated/emulated_device.hpp"

using namespace help;
using penstock::detail::EmulatedDevice;
using Mode = ps::EmulatedGpuOptions::Mode;

namespace {

constexpr std::uint64_t rows = 4, steps = 40;
constexpr std::int64_t row_bytes = 64;

struct CopyOnHost {
  void operator()(std::byte* to, const std::byte* from, std::size_t bytes, ps::StreamRef stream) const {
    ps::launch_on_host(stream, "stage", [=] { std::memcpy(to, from, bytes); },
                       {{from, bytes, false}, {to, bytes, true}});
  }
};

ps::Pipeline stamped(bool stage) {
  const ps::Pipeline p = ps::from(Stamped{steps * rows, row_bytes}) | ps::batch(rows);
  return stage ? p | CopiesRows<CopyOnHost>{} : p;
}

struct Seen {
  std::uint64_t wrong = 0, waits = 0;
  std::vector<std::string> findings;
};

// Once the host has waited for a copy, what it enqueues is after it, without any other wait. So whoever waits for the
// n-th copy waits until the n-th step is enqueued.
class StepsFirst {
 public:
  void wait_for_step() {
    const std::uint64_t mine = waiters_++;
    for (std::uint64_t now = steps_; now <= mine; now = steps_) steps_.wait(now);
  }
  void step() { set(steps_ + 1); }
  // Nobody waits any more.
  void open() { set(~std::uint64_t{0}); }

 private:
  void set(std::uint64_t to) {
    steps_ = to;
    steps_.notify_all();
  }
  std::atomic<std::uint64_t> steps_{0}, waiters_{0};
};

enum class HeldUp { none, copies, stages, consumer };

// Checks all batches on a stream, as a training loop would use them. One stream may be held up for each batch.
Seen run(Edge without, bool stage, const ps::EmulatedGpuOptions& options, HeldUp late = HeldUp::none) {
  const auto inner = std::make_shared<EmulatedDevice>(next_device(), options);
  const auto hold_up = [device = inner.get()](ps::StreamRef stream) {
    device->launch(stream, "held up", [] { std::this_thread::sleep_for(2ms); });
  };
  SabotagedDevice::Hooks hooks;
  if (late == HeldUp::copies) hooks.before_copy = hold_up;
  if (late == HeldUp::stages) hooks.before_stages = hold_up;
  StepsFirst steps_first;
  if (options.checked) hooks.before_host_waits = [&] { steps_first.wait_for_step(); };
  Seen seen;
  {
    const auto device = std::make_shared<SabotagedDevice>(inner, without, hooks);
    penstock::detail::register_device(device);
    // A consumer makes its stream itself.
    const auto stream = inner->make_stream("consumer", penstock::detail::DeviceModel::Priority::normal);
    std::uint64_t got = 0;
    {
      ps::Loader loader(stamped(stage), {.device = device->device(), .threads = 2, .epochs = 1});
      // Whatever ends the loop: the loader's end waits for its threads.
      struct Opener {
        StepsFirst& steps;
        ~Opener() { steps.open(); }
      } const opener{steps_first};
      for (ps::Batch& batch : loader.epoch(stream->ref())) {
        const std::byte* const data = batch["x"].data;
        const std::uint64_t first = batch.number() * rows;
        if (late == HeldUp::consumer) hold_up(stream->ref());
        inner->launch(stream->ref(), "step", [=, &seen] { seen.wrong += wrong_rows(data, row_bytes, rows, first); },
                      {{data, rows * row_bytes, false}});
        steps_first.step();
        ++got;
      }
    }
    inner->synchronize(stream->ref());
    REQUIRE(got == steps);
    seen.waits = device->count(without);
  }
  seen.findings = inner->findings();
  return seen;
}

struct Known {
  Edge edge;
  bool stage;
  HeldUp late;  // what makes certain that rows are wrong
  const char* finding;
};
constexpr Known all_edges[] = {
    {Edge::pinned_is_free, false, HeldUp::copies, "the host writes (the program) what stream \"copy\" reads (copy)"},
    {Edge::pinned_is_free, true, HeldUp::copies, "the host writes (the program) what stream \"copy\" reads (copy)"},
    {Edge::copied, true, HeldUp::copies, "stream \"prep\" reads (stage) what stream \"copy\" writes (copy)"},
    {Edge::raw_is_free, true, HeldUp::stages, "stream \"copy\" writes (copy) what stream \"prep\" reads (stage)"},
    {Edge::ready, false, HeldUp::copies, "stream \"consumer\" reads (step) what stream \"copy\" writes (copy)"},
    {Edge::ready, true, HeldUp::stages, "stream \"consumer\" reads (step) what stream \"prep\" writes (stage)"},
    {Edge::released, false, HeldUp::consumer, "stream \"copy\" writes (copy) what stream \"consumer\" reads (step)"},
    {Edge::released, true, HeldUp::consumer, "stream \"prep\" writes (stage) what stream \"consumer\" reads (step)"},
};

}  // namespace

TEST_CASE("a device that leaves out no wait is not found out") {
  const Watchdog watchdog(60s);
  for (const bool stage : {false, true})
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      const Seen seen = run(Edge::none, stage, {.mode = Mode::late, .checked = true, .seed = seed});
      CHECK(seen.wrong == 0);
      for (const std::string& finding : seen.findings) FAIL(finding);
    }
}

TEST_CASE("a loader on a device that leaves out one of its waits is found out") {
  const Watchdog watchdog(120s);
  for (const Known& known : all_edges) {
    INFO(to_string(known.edge) << (known.stage ? ", with a stage" : ""));
    // Late, where nothing runs at the same time: ThreadSanitizer would find these races first.
    const Seen checked = run(known.edge, known.stage, {.mode = Mode::late, .checked = true});
    CHECK(checked.waits > 0);
    REQUIRE_FALSE(checked.findings.empty());
    for (const std::string& finding : checked.findings) UNSCOPED_INFO(finding);
    CHECK(std::any_of(checked.findings.begin(), checked.findings.end(),
                      [&](const std::string& finding) { return finding.starts_with(known.finding); }));
  }
}

// As on a GPU, see tests/cuda.
TEST_CASE("a loader that leaves out one of its waits is wrong for certain where one stream is held up") {
  if (sanitized()) PENSTOCK_SKIP("a sanitizer would find the races that this is about");
  const Watchdog watchdog(120s);
  for (const Known& known : all_edges) {
    INFO(to_string(known.edge) << (known.stage ? ", with a stage" : ""));
    CHECK(run(known.edge, known.stage, {.mode = Mode::threaded}, known.late).wrong > 0);
    CHECK(run(Edge::none, known.stage, {.mode = Mode::threaded}, known.late).wrong == 0);
  }
}

TEST_CASE("a loader takes memory, streams and events of a device at its beginning, and no more in any later epoch") {
  const Watchdog watchdog(60s);
  for (const bool stage : {false, true}) {
    const auto inner = std::make_shared<EmulatedDevice>(next_device(), ps::EmulatedGpuOptions{});
    const auto device = std::make_shared<CountedDevice>(inner);
    penstock::detail::register_device(device);
    const auto stream = inner->make_stream("consumer", penstock::detail::DeviceModel::Priority::normal);
    check_takes_no_more(*device, stamped(stage), rows * steps, stage ? 2 : 1, stream->ref());
  }
}
