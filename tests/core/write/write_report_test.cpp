// SPDX-License-Identifier: Apache-2.0
// What a report says of a write: who made samples, who stored them, and which of the two bounds it.
#include "support/catch.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <thread>

#include "core/write/write_help.hpp"
#include "support/json.hpp"

using namespace help;
using penstock_test::Json;

namespace {

void spin(std::chrono::microseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {
  }
}

// Takes so long for a sample and for a commit, as a disk would.
struct Slow {
  std::chrono::microseconds put_time{0}, commit_time{0};
  std::uint64_t puts = 0;
  void open(const ps::SinkJob&) {}
  bool has(const ps::SinkItem&) { return false; }
  void put(const ps::SinkItem&, ps::Sample&) {
    ++puts;
    if (put_time.count() != 0) std::this_thread::sleep_for(put_time);
  }
  void commit() {
    if (commit_time.count() != 0) std::this_thread::sleep_for(commit_time);
  }
  void finish() {}
  std::string name() const { return "slow"; }
};

// Stages that compute, and that wait.
struct Spins {
  std::chrono::microseconds time;
  ps::Schema schema(const ps::Schema& in) const { return in; }
  std::string name() const { return "spins"; }
  void operator()(ps::Sample&, ps::Context&) const { spin(time); }
};
struct Sleeps {
  std::chrono::microseconds time;
  ps::Schema schema(const ps::Schema& in) const { return in; }
  std::string name() const { return "sleeps"; }
  void operator()(ps::Sample&, ps::Context&) const { std::this_thread::sleep_for(time); }
};

ps::Report report_of(const ps::Pipeline& p, Slow sink, ps::WriteOptions options = {.threads = 2}) {
  ps::Report report;
  int reports = 0;
  options.report = [&](const ps::Report& r) {
    report = r;
    ++reports;
  };
  ps::write(p, sink, options);
  CHECK(reports == 1);
  return report;
}

}  // namespace

TEST_CASE("a write says whether its stages bound it, or what they wait for") {
  const Watchdog dog(120s);
  for (const bool children : {false, true}) {
    CAPTURE(children);
    const ps::Pipeline records = ps::from(Records{.count = 600});
    const ps::Pipeline p = children ? records | Parts{.most = 3} : records;
    const std::uint64_t count = children ? one_by_one(p, 3).size() : 600;
    const ps::Report computing = report_of(p | Spins{1000us}, {});
    CAPTURE(computing.text());
    CHECK(computing.samples == count);
    CHECK(computing.sink == "slow");
    CHECK(computing.device == "host");
    CHECK(computing.batches == 0);
    CHECK(computing.threads == 2);
    CHECK(computing.seconds > 0.1);
    CHECK(computing.samples_per_s == Approx(static_cast<double>(count) / computing.seconds));
    CHECK(computing.consumer_wait_share > 0.5);
    CHECK(computing.runner_idle_share < 0.4);
    CHECK(computing.stages.back().name == "spins");
    CHECK(computing.stages.back().share > 0.8);
    CHECK(computing.stages.back().cpu_us_per_sample > 500);
    CHECK(computing.limit_samples_per_s > 0);
    const auto json = Json::parse(computing.json());
    CHECK(json["sink"] == "slow");
    CHECK(json["commit_share"] == computing.commit_share);
    CHECK(computing.text().find("stored into slow: the thread that stores waited ") != std::string::npos);
    CHECK(computing.text().find("next()") == std::string::npos);

    const ps::Report waiting = report_of(p | Sleeps{2000us}, {});
    CAPTURE(waiting.text());
    // Where other processes have the cores, that is said.
    if (waiting.bound != ps::Bound::other_processes) {
      CHECK(waiting.bound == ps::Bound::waiting);
      CHECK(waiting.verdict.find("Waiting in sleeps") == 0);
    }
    REQUIRE_FALSE(waiting.waits.empty());
    CHECK(waiting.waits[0].what == ps::Wait::sleep);
  }
}

TEST_CASE("a write says that its sink bounds it, and whether it is for the commits") {
  const Watchdog dog(120s);
  for (const bool children : {false, true}) {
    CAPTURE(children);
    const ps::Pipeline records = ps::from(Records{.count = 400});
    const ps::Pipeline p = (children ? records | Parts{.most = 3} : records) | Spins{50us};
    const ps::Report putting = report_of(p, {.put_time = 2000us});
    CAPTURE(putting.text());
    CHECK(putting.bound == ps::Bound::sink);
    CHECK(putting.verdict.find("Storing bounds the run: the thread that puts samples into slow waited") == 0);
    CHECK(putting.verdict.find("Commits") == std::string::npos);
    CHECK(putting.consumer_wait_share < 0.1);
    CHECK(putting.runner_idle_share > 0.5);
    // Records wait until the thread that stores says what of them is there already.
    if (children) {
      REQUIRE_FALSE(putting.idle.empty());
      CHECK(putting.idle[0].why == ps::Idle::caller);
    }
    CHECK(putting.commit_share < 0.1);
    CHECK(Json::parse(putting.json())["bound"] == "sink");

    const ps::Report committing = report_of(p, {.commit_time = 10'000us}, {.threads = 2, .commit_every = 10});
    CAPTURE(committing.text());
    CHECK(committing.bound == ps::Bound::sink);
    CHECK(committing.commit_share > 0.5);
    CHECK(committing.verdict.find("Commits had ") != std::string::npos);
  }
}

TEST_CASE("what a filter leaves out costs those that are stored") {
  const Watchdog dog(60s);
  const ps::Pipeline p = ps::from(Records{.count = 2000}) | Spins{200us} |
                         ps::filter([](const ps::Sample&, ps::Context& context) { return context.index() % 10 == 0; });
  const ps::Report r = report_of(p, {});
  CAPTURE(r.text());
  CHECK(r.samples == 200);
  CHECK(r.stages[1].cpu_us_per_sample > 1500);
  // Where other processes have the cores, that is said.
  if (r.bound != ps::Bound::other_processes) CHECK(r.samples_per_s > 0.4 * r.limit_samples_per_s);
  CHECK(r.samples_per_s < 1.3 * r.limit_samples_per_s);
}

TEST_CASE("the time in which what is there is passed over is none of a write's") {
  const Watchdog dog(60s);
  // All but the last hundred are there, and to find that out takes long.
  struct Asks : Slow {
    bool has(const ps::SinkItem& item) {
      spin(200us);
      return item.position < 2900;
    }
  };
  const ps::Pipeline p = ps::from(Records{.count = 3000}) | Spins{500us};
  ps::Report report;
  Asks sink;
  const auto begun = std::chrono::steady_clock::now();
  ps::write(p, sink, {.threads = 2, .report = [&](const ps::Report& r) { report = r; }});
  const double all = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  CAPTURE(report.text());
  CHECK(report.samples == 100);
  CHECK(all > 0.58);
  CHECK(report.seconds < all - 0.5);
  CHECK(report.seconds > 0.02);
}

TEST_CASE("a write that goes on tells only of what it made, and one of nothing tells that") {
  const Watchdog dog(60s);
  const ps::Pipeline p = ps::from(Records{.count = 100}) | AddDraw{};
  Disk disk;
  Sink first{&disk, 50};
  bool told = false;
  CHECK_THROWS(
      ps::write(p, first, {.threads = 2, .commit_every = 10, .report = [&](const ps::Report&) { told = true; }}));
  CHECK_FALSE(told);
  ps::Report report;
  Sink second{&disk};
  ps::write(p, second, {.threads = 2, .report = [&](const ps::Report& r) { report = r; }});
  CHECK(report.samples == 50);
  CHECK(report.stages.front().samples == 50);
  Sink third{&disk};
  ps::write(p, third, {.threads = 2, .report = [&](const ps::Report& r) { report = r; }});
  CHECK(report.samples == 0);
  CHECK(report.sink == "disk");
  CHECK(report.verdict == "Too few samples to say what bounds the run.");
  CHECK(report.bound == ps::Bound::unknown);
  CHECK(Json::accept(report.json()));
}
