// SPDX-License-Identifier: Apache-2.0
// Loaders that choose their settings themselves: what they choose, within which limits, and that no batch changes.
#include <algorithm>

#include <penstock/testing/statistics_resource.hpp>

#include "core/blocks/chunks.hpp"
#include "core/help.hpp"
#include "loader/tuning.hpp"
#include "support/catch.hpp"

using namespace help;

namespace {

// Windows of a tenth of the usual time.
struct QuickPace {
  QuickPace() { ps::detail::runtime::tune_pace = {.ns = 40'000'000, .batches = 4}; }
  ~QuickPace() { ps::detail::runtime::tune_pace = {}; }
};

// Batches until it is tuned, and `more`; what the first `compared` were.
std::vector<Got> tune(ps::Loader& loader, std::size_t compared, int more = 4) {
  const Watchdog dog(120s);
  std::vector<Got> got;
  while (more > 0) {
    auto batch = loader.next();
    if (!batch) continue;
    if (got.size() < compared) got.push_back(copy(*batch));
    if (got.size() % 16 == 0 || got.size() == compared)
      if (loader.report().tuning.value().done) --more;
  }
  return got;
}

ps::Pipeline waiting(std::chrono::microseconds wait, std::uint64_t count = 100'000) {
  Records source{.count = count};
  source.shared->before_read = [wait](std::uint64_t) { std::this_thread::sleep_for(wait); };
  return ps::from(source) | ps::shuffle({.seed = 3}) | AddDraw{} | ps::batch(16);
}

}  // namespace

TEST_CASE("a source that waits gets more threads, and the same batches", "[alone]") {
  const QuickPace quick;
  ps::Loader tuned(waiting(1ms), {.tune = true});
  const std::vector<Got> got = tune(tuned, 200);
  const ps::Report report = tuned.report();
  const ps::TuneReport& tuning = report.tuning.value();
  CAPTURE(report.text());
  CHECK(tuning.threads >= 8);
  CHECK(report.threads == tuning.threads);
  CHECK(tuning.batches > 10);
  CHECK(tuning.seconds > 0.1);
  CHECK(std::ranges::any_of(tuning.trials, [](const ps::TuneTrial& s) {
    return s.setting == "threads" && s.kept && s.after_samples_per_s > 1.5 * s.before_samples_per_s;
  }));
  CHECK(report.text().find("tuned in ") != std::string::npos);
  CHECK(report.json().find("\"tuning\": {\"done\": true") != std::string::npos);
  // What it tells is of the run as it is now: not of its slow beginning.
  CHECK(report.samples_per_s > 0.5 * 1000 * tuning.threads / 2);
  CHECK(report.batches < tuned.state().step);
  ps::Loader untuned(waiting(0us), {.threads = 2});
  std::vector<Got> expected;
  while (expected.size() < got.size()) expected.push_back(copy(*untuned.next()));
  CHECK(got == expected);
}

TEST_CASE("what is said stays, and an executor's threads are the most", "[alone]") {
  const QuickPace quick;
  {
    ps::Loader loader(waiting(500us), {.threads = 2, .depth = 3, .tune = true});
    // Nothing is left to choose.
    CHECK_FALSE(loader.report().tuning);
    CHECK(loader.report().threads == 2);
  }
  ps::Loader loader(waiting(500us), {.executor = ps::Executor(3), .depth = 3, .tune = true});
  tune(loader, 0);
  const ps::TuneReport tuning = loader.report().tuning.value();
  CHECK(tuning.threads <= 3);
  CHECK(tuning.depth == 3);
  for (const ps::TuneTrial& step : tuning.trials) CHECK(step.setting == "threads");
  CHECK_FALSE(ps::Loader(waiting(1us), {}).report().tuning);
}

TEST_CASE("a slow sample now and then gets more batches, or cells where order is found later", "[alone]") {
  const QuickPace quick;
  const auto pipeline = [](bool filtered, std::chrono::microseconds wait) {
    Records source{.count = 100'000};
    // One in 64 takes as long as several batches.
    source.shared->before_read = [wait](std::uint64_t i) {
      std::this_thread::sleep_for(i % 64 == 5 ? 40 * wait : wait);
    };
    ps::Pipeline p = ps::from(source) | AddDraw{};
    if (filtered) p = p | ps::filter("x", [](ps::View<const std::uint32_t, 1> x) { return x(0) % 8 != 0; });
    return p | ps::batch(8);
  };
  for (const bool filtered : {false, true}) {
    ps::Loader loader(pipeline(filtered, 200us), {.executor = ps::Executor(4), .tune = true});
    const std::vector<Got> got = tune(loader, 150);
    const ps::TuneReport tuning = loader.report().tuning.value();
    CAPTURE(filtered, loader.report().text());
    const auto raised = [&](const char* setting) {
      return std::ranges::any_of(
          tuning.trials, [&](const ps::TuneTrial& s) { return s.setting == setting && s.kept && s.to > s.from; });
    };
    CHECK(raised(filtered ? "max_reorder_bytes" : "depth"));
    ps::Loader untuned(pipeline(filtered, 0us), {.threads = 2});
    std::vector<Got> expected;
    while (expected.size() < got.size()) expected.push_back(copy(*untuned.next()));
    CHECK(got == expected);
  }
}

TEST_CASE("what a cache gives while settings change is not told as made", "[alone]") {
  const Watchdog dog(120s);
  const QuickPace quick;
  const ps::Pipeline p = ps::from(Records{.count = 400}) | ps::cache({.max_bytes = 1 << 20}) |
                         ps::map("x", [](ps::View<const std::uint32_t, 1>,
                                         ps::View<std::uint32_t, 1>) { std::this_thread::sleep_for(100us); }) |
                         ps::batch(8);
  ps::Loader filling(p, {.threads = 2, .epochs = 1});
  while (filling.next()) {
  }
  for (int turn = 0; turn < 3; ++turn) {
    ps::Loader loader(p, {.executor = ps::Executor(4), .tune = true, .epochs = 50});
    for (int epoch = 0; epoch < 50; ++epoch)
      for (const ps::Batch& batch : loader.epoch()) static_cast<void>(batch);
    const ps::Report report = loader.report();
    CAPTURE(report.text());
    CHECK(report.tuning.value().samples > 0);
    CHECK(report.stages.front().samples == 0);
  }
}

TEST_CASE("a limit of memory is kept while settings are tried", "[alone]") {
  const QuickPace quick;
  ps::testing::StatisticsResource statistics(ps::host_memory());
  const std::size_t most = ps::MiB(24);
  Records source{.count = 100'000, .width = 4096};
  source.shared->before_read = [](std::uint64_t i) { std::this_thread::sleep_for(i % 64 == 5 ? 5ms : 200us); };
  for (const bool filtered : {false, true}) {
    ps::Pipeline p = ps::from(source) | AddDraw{};
    if (filtered) p = p | ps::filter("x", [](ps::View<const std::uint32_t, 1> x) { return x(0) % 8 != 0; });
    ps::Loader loader(p | ps::batch(16), {.max_memory_bytes = most, .host_memory = &statistics, .tune = true});
    tune(loader, 0);
    CAPTURE(filtered, loader.report().text());
    CHECK(statistics.peak() <= most);
    CHECK(loader.report().tuning->depth * 16 * 4096 * 4 <= most);
  }
}

TEST_CASE("a record that is too large for its blocks is so however much memory there is later", "[alone]") {
  // All that can be raised is, at once.
  ps::detail::runtime::tune_pace = {.ns = 0, .batches = 1, .skips = false, .made_up = [] {
                                      return ps::detail::runtime::TuneWindow{
                                          .rate = 1, .wait_share = 1, .saved_by_blocks = 0.5};
                                    }};
  // Blocks of 6.1 MiB: of a half of 24 MiB two are too many, of what is there later they are not.
  std::vector<std::uint64_t> masked;
  for (const bool tunes : {false, true}) {
    const Chunks chunks{.count = 1'000'000, .per_block = 200'000, .spanning = 50};
    ps::Loader loader(ps::from(chunks) | ps::on_error({.policy = ps::OnError::mask}) | ps::batch(100),
                      {.threads = 2, .max_memory_bytes = ps::MiB(24), .tune = tunes});
    std::uint64_t bad = 0;
    for (int n = 0; n < 100; ++n) {
      const auto batch = loader.next();
      bad += static_cast<std::uint64_t>(std::ranges::count(batch->mask(), std::uint8_t{0}));
    }
    masked.push_back(bad);
    if (tunes) CHECK(loader.report().tuning->max_block_bytes > 2 * chunks.per_block * 32);
  }
  ps::detail::runtime::tune_pace = {};
  CHECK(masked == std::vector<std::uint64_t>{200, 200});
}
