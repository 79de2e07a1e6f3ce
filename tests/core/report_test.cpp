#include "support/catch.hpp"

#include <nlohmann/json.hpp>

#include "help.hpp"
#include "verdict.hpp"

using namespace help;
using penstock::detail::judge;

namespace {

// A run of 2 threads on 2 cores that reaches 95 % of what the CPU can do, the caller waiting for it.
ps::Report busy() {
  ps::Report r;
  r.batches = 100;
  r.samples = 6400;
  r.seconds = 10;
  r.samples_per_s = 950;
  r.limit_samples_per_s = 1000;
  r.threads = r.threads_seen = 2;
  r.consumer_wait_share = 0.9;
  r.runner_idle_share = 0.02;
  r.stages = {{"read", 6400, 0, 100, 0.05}, {"decode_jpeg(image)", 6400, 0, 1900, 0.95}};
  return r;
}

}  // namespace

TEST_CASE("a run whose threads are busy is bound by the CPU, and the costliest stage is named") {
  ps::Report r = busy();
  judge(r, 0.05, 2);
  CHECK(r.bound == ps::Bound::cpu);
  CHECK(r.verdict.find("decode_jpeg(image)") != std::string::npos);
  CHECK(r.verdict.find("95 %") != std::string::npos);
  CHECK(r.notes.empty());
  ps::Report more = busy();
  judge(more, 0.05, 8);
  CHECK(more.verdict.find("Another thread would add about 500") != std::string::npos);
}

TEST_CASE("a caller that hardly waits bounds the run") {
  ps::Report r = busy();
  r.consumer_wait_share = 0.01;
  r.runner_idle_share = 0.7;
  r.samples_per_s = 300;
  judge(r, 0.0, 2);
  CHECK(r.bound == ps::Bound::consumer);
  CHECK(r.verdict.find("1000") != std::string::npos);
}

TEST_CASE("runners that wait without computing are bound by storage") {
  ps::Report r = busy();
  r.samples_per_s = 300;
  judge(r, 0.7, 2);
  CHECK(r.bound == ps::Bound::storage);
  CHECK(r.verdict.find("70 %") != std::string::npos);
}

TEST_CASE("more threads than cores are bound by cores") {
  ps::Report r = busy();
  r.threads = r.threads_seen = 8;
  judge(r, 0.7, 2);
  CHECK(r.bound == ps::Bound::cores);
  CHECK(r.verdict.find("8 threads share 2 cores") != std::string::npos);
}

TEST_CASE("few batches allow no verdict, and missing runners are noted") {
  ps::Report r = busy();
  r.batches = 3;
  judge(r, 0, 2);
  CHECK(r.bound == ps::Bound::unknown);
  CHECK_FALSE(r.verdict.empty());
  ps::Report missing = busy();
  missing.threads_seen = 1;
  judge(missing, 0, 2);
  REQUIRE(missing.notes.size() == 1);
  CHECK(missing.notes[0].find("1 of 2") != std::string::npos);
}

TEST_CASE("a report's JSON parses and holds every field") {
  ps::Report r = busy();
  r.bytes = 1;
  r.copied_bytes = 2;
  r.errors = 3;
  r.first_batch_s = 0.25;
  r.cpu_s_per_1000 = 2.0;
  r.next_p50_s = 0.001;
  r.next_p99_s = 1e-9;
  r.slot_allocations = 4;
  r.memory = {{"batches", 4, 1000}};
  r.notes = {"a \"quoted\" \\ note\nwith\tcontrol \x01 characters"};
  judge(r, 0, 2);
  const auto j = nlohmann::json::parse(r.json());
  CHECK(j["bound"] == "cpu");
  CHECK(j["verdict"] == r.verdict);
  CHECK(j["batches"] == 100);
  CHECK(j["samples"] == 6400);
  CHECK(j["bytes"] == 1);
  CHECK(j["copied_bytes"] == 2);
  CHECK(j["errors"] == 3);
  CHECK(j["seconds"] == 10);
  CHECK(j["first_batch_s"] == 0.25);
  CHECK(j["samples_per_s"] == 950);
  CHECK(j["limit_samples_per_s"] == 1000);
  CHECK(j["cpu_s_per_1000"] == 2.0);
  CHECK(j["threads"] == 2);
  CHECK(j["threads_seen"] == 2);
  CHECK(j["next_p50_s"] == 0.001);
  CHECK(j["next_p99_s"] == 1e-9);
  CHECK(j["consumer_wait_share"] == 0.9);
  CHECK(j["runner_idle_share"] == 0.02);
  CHECK(j["slot_allocations"] == 4);
  CHECK(j["stages"][1]["name"] == "decode_jpeg(image)");
  CHECK(j["stages"][1]["share"] == 0.95);
  CHECK(j["memory"][0]["bytes_each"] == 1000);
  CHECK(j["notes"][0] == r.notes[0]);
  ps::Report odd;
  odd.samples_per_s = std::nan("");
  odd.limit_samples_per_s = INFINITY;
  CHECK(nlohmann::json::accept(odd.json()));
}

TEST_CASE("a report of a real run adds up") {
  const ps::Pipeline p = ps::from(Records{.count = 1000}) | ps::shuffle() | AddDraw{} | ps::batch(64);
  ps::Loader loader(p, {.threads = 2, .depth = 4});
  CHECK(loader.report().batches == 0);
  CHECK(nlohmann::json::accept(loader.report().json()));
  const auto got = collect(loader, 3);
  const ps::Report r = loader.report();
  CHECK(r.batches == 48);
  CHECK(r.samples == 3000);
  CHECK(r.bytes == 3000 * (4 * 4 + 8));
  CHECK(r.copied_bytes == 0);
  CHECK(r.errors == 0);
  CHECK(r.slot_allocations == 4);
  CHECK(r.threads == 2);
  CHECK(r.seconds > 0);
  CHECK(r.first_batch_s > 0);
  CHECK(r.first_batch_s <= r.seconds);
  CHECK(r.samples_per_s == Approx(3000 / r.seconds));
  CHECK(r.next_p50_s <= r.next_p99_s);
  CHECK(r.consumer_wait_share >= 0);
  CHECK(r.consumer_wait_share <= 1.0001);
  REQUIRE(r.stages.size() == 2);
  CHECK(r.stages[0].name == "read");
  CHECK(r.stages[1].name == "add_draw");
  CHECK(r.stages[0].share + r.stages[1].share == Approx(1).epsilon(1e-6));
  CHECK(r.limit_samples_per_s > 0);
  CHECK(r.text().find("add_draw") != std::string::npos);
  CHECK(r.text().find(r.verdict) == 0);
}

TEST_CASE("a slow caller and a slow transform are told apart") {
  const Watchdog dog(60s);
  const ps::Pipeline fast = ps::from(Records{.count = 400}) | ps::batch(4);
  ps::Loader idle(fast, {.threads = 1});
  for (ps::Batch& b : idle.epoch()) {
    (void)b;
    std::this_thread::sleep_for(2ms);
  }
  CHECK(idle.report().bound == ps::Bound::consumer);
  const ps::Pipeline waits = ps::from(Records{.count = 400}) |
                             ps::map([](ps::Sample&, ps::Context&) { std::this_thread::sleep_for(1ms); }) |
                             ps::batch(4);
  ps::Loader sleepy(waits, {.threads = 1});
  (void)collect(sleepy);
  CHECK(sleepy.report().bound == ps::Bound::storage);
}
