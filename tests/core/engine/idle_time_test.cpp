// SPDX-License-Identifier: Apache-2.0
#include "engine/idle_time.hpp"

#include "support/catch.hpp"

#include <penstock/memory.hpp>

using namespace penstock;
using namespace penstock::detail;
using namespace penstock::detail::runtime;

namespace {

std::uint64_t of(const IdleTime& time, Idle why) { return time.counts().idle_ns[static_cast<std::size_t>(why)]; }

IdleTime::IdleState idle(std::size_t runners, std::size_t idle, Idle why, const BatchBuffer* next = nullptr) {
  return {.runners = runners, .idle = idle, .ended = false, .why = why, .next = next};
}

}  // namespace

TEST_CASE("idle runners count for the reason that held, until it changes") {
  IdleTime time;
  time.begin(1000);
  time.change(1000, idle(4, 3, Idle::buffers));
  time.change(1100, idle(4, 1, Idle::order));
  time.change(1250, idle(4, 0, Idle::caller));
  time.change(1300, idle(4, 2, Idle::buffers));
  time.take();
  CHECK(of(time, Idle::buffers) == 300);
  CHECK(of(time, Idle::order) == 150);
  CHECK(of(time, Idle::caller) == 0);
  CHECK(time.counts().all_ns == 1200);
}

TEST_CASE("from when the next batch is ready, idle runners wait for the caller") {
  BatchBuffer next(host_memory(), 0);
  IdleTime time;
  time.begin(0);
  time.change(0, idle(2, 2, Idle::straggler, &next));
  next.ready_ns = 70;
  time.change(100, idle(2, 1, Idle::buffers, &next));
  time.change(200, {});
  time.take();
  CHECK(of(time, Idle::straggler) == 140);
  CHECK(of(time, Idle::caller) == 60 + 100);  // it was ready before the second change
  CHECK(of(time, Idle::buffers) == 0);
}

TEST_CASE("while all runners are in work nothing need be told, and the time counts") {
  IdleTime time;
  time.begin(0);
  time.change(0, idle(2, 1, Idle::buffers));
  time.change(100, idle(2, 0, Idle::caller));
  CHECK(time.still_busy(idle(2, 0, Idle::caller)));
  CHECK_FALSE(time.still_busy(idle(1, 0, Idle::caller)));
  CHECK_FALSE(time.still_busy(idle(2, 1, Idle::buffers)));
  CHECK_FALSE(time.still_busy({.runners = 2}));
  time.take();
  time.take();
  time.change(900, idle(2, 2, Idle::order));
  CHECK(time.counts().all_ns == 1800);
  time.change(1000, {});  // after the last batch that was taken
  CHECK(time.counts().all_ns == 1800);
  CHECK(of(time, Idle::buffers) == 100);
  CHECK(of(time, Idle::order) == 0);
}

TEST_CASE("a caller that is away for much longer than a batch takes has paused") {
  BatchBuffer next(host_memory(), 0);
  next.ready_ns = 1;
  IdleTime time;
  time.begin(0);
  std::uint64_t now = 0;
  const auto batch = [&](std::uint64_t busy, std::uint64_t waits) {
    time.change(now, idle(2, 0, Idle::caller));
    time.change(now += busy, idle(2, 2, Idle::buffers, &next));
    time.change(now += waits, idle(2, 0, Idle::caller));
    time.take();
  };
  for (int i = 0; i < 6; ++i) batch(100, 50);
  batch(100, 5000);
  CHECK(of(time, Idle::pause) == 2 * 5000);
  CHECK(of(time, Idle::caller) == 2 * 6 * 50);
  CHECK(time.counts().all_ns == 2 * now);
}

TEST_CASE("time before the first call, after the last batch, and with nothing left to issue counts for nothing") {
  IdleTime time;
  time.change(0, idle(2, 2, Idle::blocks));
  time.begin(500);
  time.change(600, idle(2, 1, Idle::entries));
  time.take();
  CHECK(of(time, Idle::blocks) == 200);
  time.change(900, {});
  CHECK(of(time, Idle::entries) == 0);
  time.take();
  CHECK(of(time, Idle::entries) == 300);
  time.change(5000, idle(2, 2, Idle::entries));  // it had ended
  time.take();
  CHECK(of(time, Idle::entries) == 300);
  CHECK(time.counts().all_ns == 200 + 600);
}
