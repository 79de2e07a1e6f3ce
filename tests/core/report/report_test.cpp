// SPDX-License-Identifier: Apache-2.0
#include "support/catch.hpp"

#include <time.h>

#include "core/help.hpp"
#include "report/last_seconds.hpp"
#include "report/verdict.hpp"
#include "support/json.hpp"

using namespace help;
using penstock::detail::runtime::set_verdict;
using penstock_test::Json;

namespace {

// A run of 2 threads on 2 cores that reaches 95 % of what the CPU can do, the caller waiting for it.
ps::Report busy() {
  ps::Report r;
  r.batches = 100;
  r.samples = 6400;
  r.seconds = 10;
  r.samples_per_s = 950;
  r.limit_samples_per_s = 1000;
  r.threads = r.threads_seen = r.cores = 2;
  r.consumer_wait_share = 0.9;
  r.runner_idle_share = 0.02;
  r.runner_wait_share = 0.05;
  r.stages = {{"read", 6400, 0, 100, 60, 0.05}, {"decode_jpeg(image)", 6400, 0, 1900, 40, 0.95}};
  return r;
}

}  // namespace

TEST_CASE("a run whose threads are busy is bound by the CPU, and the costliest stage is named", "[alone]") {
  ps::Report r = busy();
  set_verdict(r);
  CHECK(r.bound == ps::Bound::cpu);
  CHECK(r.verdict.find("decode_jpeg(image)") != std::string::npos);
  CHECK(r.verdict.find("95 %") != std::string::npos);
  CHECK(r.notes.empty());
  ps::Report more = busy();
  more.cores = 8;
  set_verdict(more);
  CHECK(more.verdict.find("Another thread would add about 500") != std::string::npos);
}

TEST_CASE("a caller that hardly waits bounds the run", "[alone]") {
  ps::Report r = busy();
  r.consumer_wait_share = 0.01;
  r.runner_idle_share = 0.7;
  r.samples_per_s = 300;
  set_verdict(r);
  CHECK(r.bound == ps::Bound::consumer);
  CHECK(r.verdict.find("1000") != std::string::npos);
}

TEST_CASE("runners that wait without computing are bound by what they wait for, however many they are", "[alone]") {
  for (const unsigned threads : {2u, 16u}) {
    ps::Report r = busy();
    r.threads = r.threads_seen = threads;
    r.samples_per_s = 300;
    r.runner_wait_share = 0.7;
    set_verdict(r);
    CHECK(r.bound == ps::Bound::storage);
    CHECK(r.verdict.find("70 %") != std::string::npos);
    r.stages[1].wait_us_per_sample = 4000;
    set_verdict(r);
    CHECK(r.bound == ps::Bound::waiting);
    CHECK(r.verdict.find("decode_jpeg(image)") != std::string::npos);
  }
}

TEST_CASE("what runners that wait were found to wait for is told, and a lock is one", "[alone]") {
  ps::Report r = busy();
  r.samples_per_s = 300;
  r.runner_wait_share = 0.7;
  r.waits = {{ps::Wait::page, 0.6}, {ps::Wait::lock, 0.1}};
  r.wait_looks = 100;
  set_verdict(r);
  CHECK(r.bound == ps::Bound::storage);
  CHECK(r.verdict.find("86 % of it for pages of mapped files") != std::string::npos);
  CHECK(r.text().find("runners in work waited for: 60 % page, 10 % lock\n") != std::string::npos);
  CHECK(r.json().find("\"waits\": {\"page\": 0.6, \"lock\": 0.1}, \"wait_looks\": 100") != std::string::npos);
  r.stages[1].wait_us_per_sample = 4000;
  r.waits = {{ps::Wait::lock, 0.5}, {ps::Wait::sleep, 0.2}};
  set_verdict(r);
  CHECK(r.bound == ps::Bound::lock);
  CHECK(r.verdict.find("A lock in decode_jpeg(image)") == 0);
  CHECK(r.verdict.find("71 % of it for each other") != std::string::npos);
  CHECK(r.json().find("\"bound\": \"lock\"") != std::string::npos);
  // Too few looks say nothing.
  r.wait_looks = 9;
  set_verdict(r);
  CHECK(r.bound == ps::Bound::waiting);
}

TEST_CASE("stages that wait for each other are bound by a lock, seen while they run", "[alone]") {
  const Watchdog dog(60s);
  const auto mutex = std::make_shared<std::mutex>();
  const ps::Pipeline locked = ps::from(Records{.count = 100'000}) | ps::map([mutex](ps::Sample&, ps::Context&) {
                                const std::lock_guard held(*mutex);
                                std::this_thread::sleep_for(500us);
                              }) |
                              ps::batch(4);
  ps::Loader loader(locked, {.threads = 8});
  for (int i = 0; i < 400; ++i) (void)loader.next();
  const ps::Report r = loader.report();
  if (r.waits.empty()) {
    WARN("this system does not show what threads wait for");
    return;
  }
  CAPTURE(r.text());
  CHECK(r.waits.front().what == ps::Wait::lock);
  CHECK(r.waits.front().share > 0.6);
  CHECK(r.bound == ps::Bound::lock);
}

TEST_CASE("the last seconds are told where they differ from the whole", "[alone]") {
  ps::Report whole = busy(), lately = busy();
  whole.bound = lately.bound = ps::Bound::cpu;
  whole.seconds = 60;
  lately.seconds = 7;
  lately.verdict = "The storage bounds the run.";
  CHECK(ps::detail::runtime::note_on_last_seconds(whole, lately).empty());
  lately.samples_per_s = 0.7 * whole.samples_per_s;
  CHECK(ps::detail::runtime::note_on_last_seconds(whole, lately).find("In the last 7 s it was ") == 0);
  CHECK(ps::detail::runtime::note_on_last_seconds(whole, lately).find("storage") == std::string::npos);
  lately.bound = ps::Bound::storage;
  CHECK(ps::detail::runtime::note_on_last_seconds(whole, lately).ends_with(": The storage bounds the run."));
  whole.seconds = 13;  // the last seconds are most of it
  CHECK(ps::detail::runtime::note_on_last_seconds(whole, lately).empty());
  whole.seconds = 60;
  lately.bound = ps::Bound::unknown;
  CHECK(ps::detail::runtime::note_on_last_seconds(whole, lately).empty());
}

TEST_CASE("more threads than cores, and those used up, are bound by cores", "[alone]") {
  ps::Report r = busy();
  r.threads = r.threads_seen = 8;
  r.runner_wait_share = 0.7;
  set_verdict(r);
  CHECK(r.bound == ps::Bound::cores);
  CHECK(r.verdict.find("8 threads share 2 cores") != std::string::npos);
}

namespace {

// One thread of a machine of two cores, beside two busy loops: they had two thirds of the cores.
ps::Report crowded() {
  ps::Report r = busy();
  r.threads = r.threads_seen = 1;
  r.samples_per_s = 350;
  r.runner_delay_share = 0.65;
  r.caller_delay_share = 0.02;
  r.own_core_share = 0.18;
  r.other_core_share = 0.82;
  return r;
}
bool names_others(const ps::Report& r) { return r.verdict.find("ther processes") != std::string::npos; }
bool promises(const ps::Report& r) { return r.verdict.find("would add") != std::string::npos; }

}  // namespace

TEST_CASE("cores that other processes had are named with their share, and no thread is promised", "[alone]") {
  ps::Report r = crowded();
  set_verdict(r);
  CAPTURE(r.verdict);
  CHECK(r.bound == ps::Bound::other_processes);
  CHECK(r.verdict.find("Other processes bound the run") == 0);
  CHECK(r.verdict.find("had 82 % of the 2 cores") != std::string::npos);
  CHECK(r.verdict.find("runners waited 65 % of their time") != std::string::npos);
  CHECK(r.verdict.find("35 % of what 1 thread can do") != std::string::npos);
  CHECK_FALSE(promises(r));
  CHECK(Json::parse(r.json())["bound"] == "other_processes");
}

TEST_CASE("the stage that takes most of the CPU is named also where cores are what is lacking", "[alone]") {
  ps::Report others = crowded(), more_threads = busy();
  more_threads.threads = more_threads.threads_seen = 4;
  more_threads.samples_per_s = 900;
  for (ps::Report* r : {&others, &more_threads}) {
    set_verdict(*r);
    CAPTURE(r->verdict);
    CHECK(r->verdict.find("decode_jpeg(image) takes 95 %: a cheaper one would help as well") != std::string::npos);
    for (ps::StageReport& stage : r->stages) stage.share = 0.4;
    set_verdict(*r);
    CHECK(r->verdict.find("cheaper") == std::string::npos);
  }
  CHECK(others.bound == ps::Bound::other_processes);
  CHECK(more_threads.bound == ps::Bound::cores);
}

TEST_CASE("a run that nobody holds up names no other process", "[alone]") {
  // What is there, runners that wait a little, and others that have cores nobody wanted.
  for (const double delay : {0.0, 0.05, 0.3})
    for (const double others : {0.0, 0.04, 0.09}) {
      ps::Report r = busy();
      r.runner_delay_share = r.caller_delay_share = delay;
      r.own_core_share = 0.9;
      r.other_core_share = others;
      set_verdict(r);
      CHECK_FALSE(names_others(r));
    }
  ps::Report r = busy();
  r.threads = r.threads_seen = 1;
  r.cores = 4;
  r.runner_delay_share = 0.01;
  r.own_core_share = 0.25;
  r.other_core_share = 0.25;
  set_verdict(r);
  CHECK(r.bound == ps::Bound::cpu);
  CHECK_FALSE(names_others(r));
  CHECK(promises(r));
}

TEST_CASE("runners that wait for cores of this process's own threads are not told of others", "[alone]") {
  ps::Report r = busy();
  r.runner_delay_share = 0.4;
  r.own_core_share = 0.97;
  r.other_core_share = 0.03;
  set_verdict(r);
  CHECK(r.bound == ps::Bound::cpu);
  CHECK_FALSE(names_others(r));
  CHECK(r.verdict.find("Runners waited 40 % of the time for a core, which other threads of this process had") !=
        std::string::npos);
  // More of them than cores: that is said already.
  r.threads = r.threads_seen = 8;
  r.runner_delay_share = 0.75;
  set_verdict(r);
  CHECK(r.bound == ps::Bound::cores);
  CHECK_FALSE(names_others(r));
  CHECK(r.verdict.find("8 threads share 2 cores") != std::string::npos);
  // A tenth of the cores was another process's, which is no more than a word.
  r.own_core_share = 0.89;
  r.other_core_share = 0.11;
  set_verdict(r);
  CHECK(r.bound == ps::Bound::cores);
  CHECK(r.verdict.find("other processes had 11 % of the 2 cores") != std::string::npos);
}

TEST_CASE("where only the waiting is known, only that is said", "[alone]") {
  ps::Report r = crowded();
  r.own_core_share.reset();
  r.other_core_share.reset();
  set_verdict(r);
  CHECK(r.bound == ps::Bound::cpu);
  CHECK(r.verdict.find("Runners waited 65 % of the time for a core.") != std::string::npos);
  CHECK_FALSE(names_others(r));
  CHECK_FALSE(promises(r));
  // Neither this process nor others had the cores, so perhaps a quota took them.
  r.own_core_share = 0.3;
  r.other_core_share = 0.05;
  set_verdict(r);
  CHECK(r.verdict.find("Runners waited 65 % of the time for a core.") != std::string::npos);
  CHECK_FALSE(names_others(r));
  // Nothing is known of delays: nothing is made of what others had.
  r = crowded();
  r.runner_delay_share.reset();
  r.caller_delay_share.reset();
  set_verdict(r);
  CHECK_FALSE(names_others(r));
  CHECK_FALSE(promises(r));
  CHECK(r.verdict.find("No core was free for another thread") != std::string::npos);
  CHECK(Json::parse(r.json())["runner_delay_share"].is_null());
}

TEST_CASE("another thread is promised where a core is free for it, and only there", "[alone]") {
  ps::Report r = busy();
  r.threads = r.threads_seen = 1;
  r.runner_delay_share = 0.02;
  r.own_core_share = 0.5;
  r.other_core_share = 0.02;
  set_verdict(r);
  CHECK(r.verdict.find("Another thread would add about 1000 samples/s.") != std::string::npos);
  r.other_core_share = 0.3;
  set_verdict(r);
  CHECK_FALSE(promises(r));
  // A caller that computes has it.
  r.other_core_share = 0.02;
  r.own_core_share = 0.95;
  set_verdict(r);
  CHECK_FALSE(promises(r));
  r.own_core_share.reset();
  r.other_core_share.reset();
  set_verdict(r);
  CHECK(r.verdict.find("where a core is free for it") != std::string::npos);
  // Little is left of a quota of 1.2 cores.
  r.core_quota = 1.2;
  r.own_core_share = 0.85;
  set_verdict(r);
  CHECK_FALSE(promises(r));
  r.core_quota = 3;
  r.cores = 3;
  r.own_core_share = 0.34;
  set_verdict(r);
  CHECK(promises(r));
}

TEST_CASE("a caller or a disk that bounds the run does so also beside other processes, which are named", "[alone]") {
  ps::Report r = crowded();
  r.consumer_wait_share = 0.01;
  r.caller_delay_share = 0.4;
  set_verdict(r);
  CHECK(r.bound == ps::Bound::consumer);
  CHECK(r.verdict.find("It waited 40 % of the time for a core; other processes had 82 % of the 2 cores.") !=
        std::string::npos);
  r.caller_delay_share = 0.01;
  set_verdict(r);
  CHECK(r.verdict.find("Runners waited 65 % of the time for a core; other processes had 82 %") != std::string::npos);
  r = crowded();
  r.runner_wait_share = 0.7;
  r.runner_delay_share = 0.2;
  set_verdict(r);
  CHECK(r.bound == ps::Bound::storage);
  CHECK(r.verdict.find("They waited 20 % of the time for a core; other processes had 82 %") != std::string::npos);
}

TEST_CASE("what is faster than the estimated limit reaches all of it", "[alone]") {
  ps::Report r = busy();
  r.samples_per_s = 1080;
  set_verdict(r);
  CHECK(r.bound == ps::Bound::cpu);
  CHECK(r.verdict.find("all of what 2 threads can do") != std::string::npos);
}

TEST_CASE("a run of a moment is said to be too short, whatever bounds it", "[alone]") {
  for (const double waited : {0.0, 0.9}) {
    ps::Report r = busy();
    r.consumer_wait_share = waited;
    r.seconds = 0.04;
    set_verdict(r);
    CAPTURE(r.verdict);
    CHECK(r.verdict.starts_with("A run of 0.04 s is too short to be sure: a longer one says more. "));
    CHECK(r.besides.empty());
    r.seconds = 1;
    set_verdict(r);
    CHECK(r.verdict.find("too short") == std::string::npos);
  }
}

TEST_CASE("few batches allow no verdict, and missing runners are noted", "[alone]") {
  ps::Report r = busy();
  r.batches = 3;
  set_verdict(r);
  CHECK(r.bound == ps::Bound::unknown);
  CHECK_FALSE(r.verdict.empty());
  ps::Report missing = busy();
  missing.threads_seen = 1;
  set_verdict(missing);
  REQUIRE(missing.notes.size() == 1);
  CHECK(missing.notes[0].find("1 of 2") != std::string::npos);
}

TEST_CASE("a report's JSON parses and holds every field", "[alone]") {
  ps::Report r = busy();
  r.bytes = 1;
  r.copied_bytes = 2;
  r.errors = 3;
  r.first_batch_s = 0.25;
  r.cpu_s_per_1000 = 2.0;
  r.next_p50_s = 0.001;
  r.next_p99_s = 1e-9;
  r.batch_allocations = 4;
  r.memory = {{"batches", 4, 1000}};
  r.notes = {"a \"quoted\" \\ note\nwith\tcontrol \x01 characters", "Zürich €, 𝄞",
             "\xff\xc0\xaf\xed\xa0\x80\xf5\xe2\x82 half"};
  r.limit_chains = 77;
  r.runner_wait_share = 0.125;
  r.runner_delay_share = 0.0625;
  r.caller_delay_share = 0.5;
  r.own_core_share = 0.75;
  r.other_core_share = 0.03125;
  r.core_quota = 1.5;
  r.device = "host";
  set_verdict(r);
  const auto j = Json::parse(r.json());
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
  CHECK(j["batch_allocations"] == 4);
  CHECK(j["stages"][1]["name"] == "decode_jpeg(image)");
  CHECK(j["stages"][1]["share"] == 0.95);
  CHECK(j["memory"][0]["bytes_each"] == 1000);
  CHECK(j["notes"][0] == r.notes[0]);
  CHECK(j["notes"][1] == r.notes[1]);
  std::string bad;
  for (int i = 0; i < 9; ++i) bad += "\xef\xbf\xbd";
  CHECK(j["notes"][2] == bad + " half");
  CHECK(j["limit_chains"] == 77);
  CHECK(j["runner_wait_share"] == 0.125);
  CHECK(j["runner_delay_share"] == 0.0625);
  CHECK(j["caller_delay_share"] == 0.5);
  CHECK(j["own_core_share"] == 0.75);
  CHECK(j["other_core_share"] == 0.03125);
  CHECK(j["core_quota"] == 1.5);
  CHECK(r.text().find("cores: this process had 75 % of the time of 2, others 3 %, runners waited 6 % of their time for "
                      "one, the caller 50 %") != std::string::npos);
  CHECK(j["device"] == "host");
  CHECK(j["cores"] == 2);
  CHECK(j["stages"][1]["wait_us_per_sample"] == 40);
  ps::Report odd;
  odd.samples_per_s = std::nan("");
  odd.limit_samples_per_s = INFINITY;
  CHECK(Json::accept(odd.json()));
}

TEST_CASE("a report of a real run adds up", "[alone]") {
  const ps::Pipeline p = ps::from(Records{.count = 1000}) | ps::shuffle() | AddDraw{} | ps::batch(64);
  ps::Loader loader(p, {.threads = 2, .depth = 4});
  CHECK(loader.report().batches == 0);
  CHECK(Json::accept(loader.report().json()));
  const auto got = collect(loader, 3);
  const ps::Report r = loader.report();
  CHECK(r.batches == 48);
  CHECK(r.samples == 3000);
  CHECK(r.bytes == 3000 * (4 * 4 + 8));
  CHECK(r.copied_bytes == 0);
  CHECK(r.errors == 0);
  CHECK(r.batch_allocations == 1);
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

TEST_CASE("a slow caller and a slow transform are told apart", "[alone]") {
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
  const ps::Report in_map = sleepy.report();
  CHECK(in_map.bound == ps::Bound::waiting);
  CHECK(in_map.verdict.find("Waiting in map") == 0);
  CHECK(in_map.stages[1].wait_us_per_sample > 900);
  CHECK(in_map.stages[0].wait_us_per_sample < 100);
  // More threads than cores change nothing about what they wait for.
  Records slow{.count = 400};
  slow.shared->before_read = [](std::uint64_t) { std::this_thread::sleep_for(1ms); };
  ps::Loader reading(ps::from(slow) | ps::batch(4), {.threads = 5});
  (void)collect(reading);
  CHECK(reading.report().bound == ps::Bound::storage);
}

TEST_CASE("bad samples count in the cost of a sample, and those beyond the first ten are counted in a note",
          "[alone]") {
  const Watchdog dog(60s);
  // Of its own CPU time: a thread without a core gets no further.
  const auto cpu_us = [] {
    timespec now{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<std::int64_t>(now.tv_sec) * 1'000'000 + now.tv_nsec / 1'000;
  };
  const ps::Pipeline p = ps::from(Records{.count = 800}) | ps::map([&](ps::Sample&, ps::Context& context) {
                           for (const std::int64_t end = cpu_us() + 200; cpu_us() < end;) {
                           }
                           if (context.index() % 2 == 0) throw ps::Error(ps::Errc::corrupt, "half of it");
                         }) |
                         ps::on_error({.policy = ps::OnError::mask}) | ps::batch(16);
  ps::Loader loader(p, {.threads = 1});
  (void)collect(loader);
  const ps::Report r = loader.report();
  CHECK(r.errors == 400);
  CHECK(r.cpu_s_per_1000 > 0.15);
  CHECK(r.cpu_s_per_1000 < 0.15 * (sanitized() ? 20 : 3));
  CHECK(r.notes.back() == "400 bad samples in all");
}

TEST_CASE("runners without work bound the run by what they waited for, and the gain is said", "[alone]") {
  struct Expected {
    ps::Idle why;
    ps::Bound bound;
    const char* word;
  };
  for (const Expected& it : {Expected{ps::Idle::straggler, ps::Bound::stragglers, "depth"},
                             Expected{ps::Idle::buffers, ps::Bound::buffers, "depth"},
                             Expected{ps::Idle::leases, ps::Bound::buffers, "held by the caller"},
                             Expected{ps::Idle::entries, ps::Bound::entries, "max_reorder_bytes"},
                             Expected{ps::Idle::blocks, ps::Bound::blocks, "Smaller blocks"},
                             Expected{ps::Idle::block_memory, ps::Bound::blocks, "max_block_bytes"},
                             Expected{ps::Idle::stream, ps::Bound::stream, "interleaved"},
                             Expected{ps::Idle::order, ps::Bound::order, "cheaper order"}}) {
    ps::Report r = busy();
    r.samples_per_s = 500;
    r.runner_idle_share = 0.42;
    r.idle = {{it.why, 0.4}, {ps::Idle::threads, 0.02}};
    set_verdict(r);
    CAPTURE(r.verdict);
    CHECK(r.bound == it.bound);
    CHECK(r.verdict.find(it.word) != std::string::npos);
    CHECK(r.verdict.find("40 %") != std::string::npos);
    CHECK(r.verdict.find("833 samples/s in the place of 500") != std::string::npos);
    // Waiting for the disk is the larger loss.
    r.runner_wait_share = 0.9;
    set_verdict(r);
    CHECK(r.bound == (it.why == ps::Idle::stream ? it.bound : ps::Bound::storage));
    // Too little to matter, and of the caller's making.
    r.runner_wait_share = 0.05;
    r.runner_idle_share = 0.12;
    r.idle = {{it.why, 0.1}};
    set_verdict(r);
    CHECK(r.bound == ps::Bound::cpu);
    r.idle = {{it.why, 0.4}};
    r.consumer_wait_share = 0.05;
    set_verdict(r);
    CHECK(r.bound == (it.why == ps::Idle::order ? ps::Bound::order : ps::Bound::consumer));
  }
}

TEST_CASE("batches that wait for a buffer on the device are bound by it, and by nothing on the host", "[alone]") {
  ps::Report r = busy();
  r.samples_per_s = 400;
  r.runner_idle_share = 0.5;
  r.consumer_wait_share = 0.8;
  r.idle = {{ps::Idle::leases, 0.3}, {ps::Idle::caller, 0.2}};
  r.device = "emulated:0 (an emulated GPU)";
  set_verdict(r);
  CHECK(r.bound == ps::Bound::device);
  CHECK(r.verdict.find("for 50 % of the time") != std::string::npos);
  r.consumer_wait_share = 0.4;  // the caller was away for longer than batches waited
  set_verdict(r);
  CHECK(r.bound != ps::Bound::device);
  r.consumer_wait_share = 0.8;
  r.device = "host";
  set_verdict(r);
  CHECK(r.bound == ps::Bound::buffers);
}

TEST_CASE("where a device's streams were timed, what they say decides between copies, stages and the caller's work",
          "[alone]") {
  ps::Report r = busy();
  r.samples_per_s = 400;
  r.runner_idle_share = 0.5;
  r.consumer_wait_share = 0.8;
  r.idle = {{ps::Idle::leases, 0.5}};
  r.device = "gpu 0";
  r.devices = {{.name = "gpu 0",
                .copies = {100, 9000, 0.9},
                .copy_bytes_per_s = 5e9,
                .stages = {100, 100, 0.01},
                .buffer = {},
                .starved = {100, 8000, 0.8}}};
  set_verdict(r);
  CHECK(r.bound == ps::Bound::copies);
  CHECK(r.verdict.find("Copies to gpu 0 bound the run: they take 9.00 ms a batch, 90 % of the time, at 5.00 GB/s; the "
                       "caller's stream waited for batches 80 % of the time") == 0);
  std::swap(r.devices[0].copies, r.devices[0].stages);
  set_verdict(r);
  CHECK(r.bound == ps::Bound::device);
  CHECK(r.verdict.find("The stages on gpu 0 bound the run: they take 9.00 ms a batch, 90 %") == 0);
  // However long they take, they are hidden.
  r.devices[0].starved = {100, 500, 0.05};
  set_verdict(r);
  CHECK(r.bound == ps::Bound::consumer);
  CHECK(r.verdict.find("The caller's work on gpu 0 bounds the run: its stream waited for batches 5 %") == 0);
  // One of two starves: what it waits for is told, not what is busy elsewhere.
  r.devices.push_back(r.devices[0]);
  r.devices[1].name = "gpu 1";
  r.devices[1].stages.share = 0;
  r.devices[1].copies = {100, 6000, 0.6};
  r.devices[1].starved = {100, 5000, 0.5};
  set_verdict(r);
  CHECK(r.bound == ps::Bound::copies);
  CHECK(r.verdict.find("Copies to gpu 1 bound the run") == 0);
  // Of two that don't, the one that waits least.
  r.devices[1].starved = {100, 100, 0.01};
  set_verdict(r);
  CHECK(r.verdict.find("The caller's work on gpu 1 bounds the run: its stream waited for batches 1 %") == 0);
  // Too few were timed to tell, or neither takes most of the time.
  r.devices.resize(1);
  r.devices[0].starved = {100, 8000, 0.8};
  r.devices[0].copies.timed = 3;
  set_verdict(r);
  CHECK(r.verdict.find("The device bounds the run") == 0);
  r.devices[0].copies.timed = 100;
  r.devices[0].starved = {3, 500, 0.05};
  set_verdict(r);
  CHECK(r.verdict.find("The device bounds the run") == 0);
  r.devices[0].starved = r.devices[0].stages = {100, 4000, 0.4};
  set_verdict(r);
  CHECK(r.verdict.find("The device bounds the run") == 0);
}

TEST_CASE("nothing is promised where nothing is to be gained", "[alone]") {
  ps::Report r = busy();
  r.threads = r.threads_seen = 16;
  r.samples_per_s = 980;
  r.runner_idle_share = 0.5;
  r.idle = {{ps::Idle::buffers, 0.5}};
  set_verdict(r);
  CHECK(r.bound == ps::Bound::cores);
}

TEST_CASE("a share of the time in work is weighed as what it is of all time", "[alone]") {
  ps::Report r = busy();
  r.samples_per_s = 200;
  r.runner_idle_share = 0.83;
  r.runner_wait_share = 0.99;
  r.idle = {{ps::Idle::buffers, 0.83}};
  set_verdict(r);
  CHECK(r.bound == ps::Bound::buffers);
}

TEST_CASE("an executor without threads, and a caller that is away now and then, are named", "[alone]") {
  ps::Report r = busy();
  r.samples_per_s = 480;
  r.runner_idle_share = 0.5;
  r.idle = {{ps::Idle::threads, 0.5}};
  set_verdict(r);
  CHECK(r.bound == ps::Bound::threads);
  r.idle = {{ps::Idle::pause, 0.4}};
  r.consumer_wait_share = 0.5;
  set_verdict(r);
  CHECK(r.bound == ps::Bound::cpu);
  CHECK(r.verdict.find("away for 40 %") != std::string::npos);
  r.idle = {{ps::Idle::caller, 0.4}};
  r.consumer_wait_share = 0.15;
  set_verdict(r);
  CHECK(r.bound == ps::Bound::consumer);
}

TEST_CASE("a limit of memory that leaves too few threads bounds the run", "[alone]") {
  ps::Report r = busy();
  r.cores = 4;
  r.threads_wanted = 3;
  set_verdict(r);
  CHECK(r.bound == ps::Bound::memory);
  CHECK(r.verdict.find("room for 2 of 3 threads") != std::string::npos);
  CHECK(r.verdict.find("Another thread would add about 500") != std::string::npos);
  r.cores = 2;  // more threads would have no core
  set_verdict(r);
  CHECK(r.bound == ps::Bound::cpu);
}

TEST_CASE("runners and the caller that wait for each other by turns want more batches", "[alone]") {
  ps::Report r = busy();
  r.samples_per_s = 500;
  r.runner_idle_share = 0.4;
  r.consumer_wait_share = 0.4;
  r.idle = {{ps::Idle::caller, 0.4}};
  set_verdict(r);
  CHECK(r.bound == ps::Bound::buffers);
  CHECK(r.verdict.find("the caller waited 40 %") != std::string::npos);
}

TEST_CASE("where runners on a device wait for it or the caller, and the caller for them, nothing is promised",
          "[alone]") {
  ps::Report r = busy();
  r.device = "gpu:0 (a GPU)";
  r.samples_per_s = 500;
  r.runner_idle_share = 0.49;
  r.consumer_wait_share = 0.26;
  r.idle = {{ps::Idle::caller, 0.28}, {ps::Idle::pause, 0.11}, {ps::Idle::threads, 0.1}};
  set_verdict(r);
  CHECK(r.bound == ps::Bound::unknown);
  CHECK(r.verdict.find("(28 % caller, 11 % pause, 10 % threads)") != std::string::npos);
  CHECK(r.verdict.find("depth") == std::string::npos);
  CHECK(r.besides == "");
  r.samples_per_s = 950;
  r.runner_idle_share = 0.14;
  r.idle = {{ps::Idle::caller, 0.12}};
  set_verdict(r);
  CHECK(r.bound == ps::Bound::cpu);
  CHECK(r.besides ==
        "Next to that, runners waited 12 % of their time for the device or the caller, with all batches made.");
}

TEST_CASE("a run of many small losses is bound by none of them", "[alone]") {
  ps::Report r = busy();
  r.samples_per_s = 500;
  r.runner_idle_share = 0.45;
  r.consumer_wait_share = 0.5;
  r.idle = {{ps::Idle::threads, 0.14}, {ps::Idle::straggler, 0.12}, {ps::Idle::buffers, 0.1}, {ps::Idle::order, 0.09}};
  set_verdict(r);
  CHECK(r.bound == ps::Bound::unknown);
  CHECK(r.verdict.find(
            "No single thing bounds the run: 500 samples/s is 50 % of what 2 threads can do. Runners had "
            "nothing to do for 45 % of their time (14 % threads, 12 % straggler, 10 % buffers, 9 % order)") == 0);
  CHECK_FALSE(promises(r));
}

TEST_CASE("the largest cause that the verdict does not speak of is told besides", "[alone]") {
  struct Expected {
    ps::Idle why;
    const char* words;
  };
  for (const Expected& it :
       {Expected{ps::Idle::straggler, "for single slow samples"},
        Expected{ps::Idle::buffers, "for a batch to write to."}, Expected{ps::Idle::leases, "as all were held"},
        Expected{ps::Idle::entries, "for older samples"}, Expected{ps::Idle::blocks, "for blocks that others loaded"},
        Expected{ps::Idle::block_memory, "for room for the next block"},
        Expected{ps::Idle::order, "for the order to say"}, Expected{ps::Idle::threads, "for a thread of the executor"},
        Expected{ps::Idle::caller, "for the caller, with all batches ready"}}) {
    ps::Report r = busy();
    r.runner_idle_share = 0.13;
    r.idle = {{it.why, 0.12}, {ps::Idle::pause, 0.01}};
    set_verdict(r);
    CAPTURE(r.verdict, r.besides);
    CHECK(r.bound == ps::Bound::cpu);
    CHECK(r.besides.find("Next to that, runners waited 12 % of their time ") == 0);
    CHECK(r.besides.find(it.words) != std::string::npos);
    CHECK(r.text().find(r.verdict + "\n" + r.besides + "\n") == 0);
    CHECK(Json::parse(r.json())["besides"] == r.besides);
    r.idle[0].share = 0.09;
    set_verdict(r);
    CHECK(r.besides == "");
  }
  // What the verdict names is not named again, nor what comes of it.
  ps::Report r = busy();
  r.samples_per_s = 500;
  r.runner_idle_share = 0.6;
  r.runner_wait_share = 0.4;
  r.stages[0].wait_us_per_sample = 60;
  r.stages[1].wait_us_per_sample = 20;
  r.idle = {{ps::Idle::buffers, 0.4}, {ps::Idle::leases, 0.2}};
  set_verdict(r);
  CHECK(r.bound == ps::Bound::buffers);
  // 40 % of 40 %, of which three quarters are in the first stage.
  CHECK(r.besides == "Next to that, runners waited 12 % of their time in read, not computing.");
  r.runner_wait_share = 0.05;
  r.runner_delay_share = 0.5;
  set_verdict(r);
  CHECK(r.besides == "Next to that, runners waited 20 % of their time for a core.");
  r = busy();
  r.runner_delay_share = 0.24;
  set_verdict(r);
  CHECK(r.verdict.find("Runners waited 24 % of the time for a core") != std::string::npos);
  CHECK(r.besides == "");
  r = busy();
  r.consumer_wait_share = 0.5;
  r.runner_idle_share = 0.3;
  r.idle = {{ps::Idle::pause, 0.28}};
  set_verdict(r);
  CHECK(r.verdict.find("away for 28 %") != std::string::npos);
  CHECK(r.besides == "");
}

TEST_CASE("more threads and more memory are promised to no run whose threads have nothing to do", "[alone]") {
  ps::Report r = busy();
  r.samples_per_s = 500;
  r.runner_idle_share = 0.45;
  r.consumer_wait_share = 0.5;
  r.idle = {{ps::Idle::threads, 0.14}, {ps::Idle::straggler, 0.12}, {ps::Idle::buffers, 0.1}, {ps::Idle::order, 0.09}};
  r.cores = 4;
  r.threads_wanted = 3;
  set_verdict(r);
  CHECK(r.bound == ps::Bound::unknown);
  r.threads = r.threads_seen = r.threads_wanted = 8;
  r.cores = 2;
  set_verdict(r);
  CHECK(r.bound == ps::Bound::unknown);
}

TEST_CASE("a caller that comes late for the last batches, when nothing is left to be made, bounds the run", "[alone]") {
  ps::Report r = busy();
  r.samples_per_s = 270;
  r.runner_idle_share = 0.38;
  r.consumer_wait_share = 0.13;
  set_verdict(r);
  CHECK(r.bound == ps::Bound::consumer);
  r.consumer_wait_share = 0.8;
  set_verdict(r);
  CHECK(r.bound == ps::Bound::cpu);
}

TEST_CASE("reading that decodes blocks again and again is told what twice the memory would give", "[alone]") {
  ps::Report r = busy();
  r.stages[0].share = 0.8;
  r.stages[1].share = 0.2;
  r.block_decodes = 1000;
  r.block_decodes_saved = 400;
  set_verdict(r, false, 0.8);
  CHECK(r.bound == ps::Bound::cpu);
  // 40 % of 80 %.
  CHECK(r.verdict.find("Twice the `max_block_bytes` would save about 40 % of the loads of blocks, and give about 1397 "
                       "samples/s.") != std::string::npos);
  const auto j = Json::parse(r.json());
  CHECK(j["block_decodes"] == 1000);
  CHECK(j["block_decodes_saved"] == 400);
  r.block_decodes_saved = 100;
  set_verdict(r, false, 0.8);
  CHECK(r.verdict.find("max_block_bytes") == std::string::npos);
  // Reading takes long, but not for its blocks.
  r.block_decodes_saved = 400;
  set_verdict(r, false, 0.2);
  CHECK(r.verdict.find("max_block_bytes") == std::string::npos);
  // Another stage is what takes long.
  r.block_decodes_saved = 400;
  r.stages[0].share = 0.4;
  r.stages[1].share = 0.6;
  set_verdict(r, false, 0.8);
  CHECK(r.verdict.find("max_block_bytes") == std::string::npos);
}
