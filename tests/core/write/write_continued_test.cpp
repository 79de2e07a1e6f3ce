// SPDX-License-Identifier: Apache-2.0
// write() of samples that share what they are made of, stopped or killed, and continued.
#include "support/catch.hpp"

#include "core/write/write_help.hpp"

using namespace help;

TEST_CASE("a run that was killed anywhere is continued, and makes no sample twice that is there") {
  const Watchdog dog(120s);
  std::atomic<std::uint64_t> made{0};
  Parts parts{.before_child = [&](std::uint64_t, std::uint32_t) { ++made; }};
  const ps::Pipeline p = tiles({.count = 30}, parts);
  const std::vector<Stored> expected = one_by_one(p, 4);
  const std::uint64_t all = 7 * 6 + 1;  // samples, those that are filtered included
  for (std::uint64_t k = 0; k < expected.size(); ++k) {
    Disk disk;
    Sink killed{&disk, k};
    CHECK_THROWS(ps::write(p, killed, {.threads = 2, .commit_every = 3}));
    REQUIRE(disk.kept.size() == k / 3 * 3);
    made = 0;
    const ps::WriteProgress done = write_to(disk, p);
    CHECK(disk.kept == expected);
    CHECK(disk.finished == 1);
    CHECK(made == all - k / 3 * 3);
    CHECK(done.skipped == k / 3 * 3);
    CHECK(done.done == all);
  }
}

TEST_CASE("a sink without anything is not asked ahead, and loses nothing by it") {
  const Watchdog dog(60s);
  const ps::Pipeline p = tiles({.count = 30});
  Disk disk;
  Sink fresh{&disk};
  fresh.some = false;
  ps::write(p, fresh, {.threads = 2});
  CHECK(disk.kept == one_by_one(p, 4));
  CHECK(fresh.asked == disk.kept.size());
  // One that is mistaken puts nothing twice.
  Sink mistaken{&disk};
  mistaken.some = false;
  const ps::WriteProgress done = ps::write(p, mistaken, {.threads = 2});
  CHECK(mistaken.puts == 0);
  CHECK(done.skipped == disk.kept.size());
}

TEST_CASE("what a continued run finds counts for the share of bad samples that is allowed") {
  const Watchdog dog(60s);
  Records source{.count = 3000};
  for (std::uint64_t i = 0; i < 2400; i += 2) source.shared->faults[i] = Fault::corrupt;
  // Odd records have one sample each. Of what a continued run makes all are bad.
  const ps::Pipeline p =
      ps::from(source) | Parts{.most = 2} | ps::on_error({.policy = ps::OnError::drop, .max_share = 0.6});
  Disk disk;
  write_to(disk, p);
  REQUIRE(disk.kept.size() == 1500);
  CHECK(write_to(disk, p).dropped == 1200);
  CHECK(disk.kept.size() == 1500);
  CHECK(disk.finished == 2);
}

TEST_CASE("a write of samples that is stopped commits, does not finish, and is continued") {
  const Watchdog dog(60s);
  const ps::Pipeline p = tiles({.count = 300});
  const std::vector<Stored> expected = one_by_one(p, 4);
  for (const std::uint64_t after : {1u, 17u, 200u}) {
    Disk disk;
    std::stop_source stop;
    Sink sink{&disk};
    sink.before_put = [&] {
      if (sink.puts == after) stop.request_stop();
    };
    const ps::WriteProgress done = ps::write(p, sink, {.threads = 2, .stop = stop.get_token()});
    CHECK(disk.kept.size() == after + 1);
    CHECK(done.total == ps::unknown_size);
    CHECK(done.done >= after + 1);
    CHECK(disk.finished == 0);
    write_to(disk, p);
    CHECK(disk.kept == expected);
  }
}

TEST_CASE("long work on a child sees that a write is to stop, and its sample is not stored") {
  const Watchdog dog(30s);
  std::stop_source stop;
  Disk disk;
  const ps::Pipeline p = ps::from(Records{.count = 50}) | Parts{} | ps::map([&](ps::Sample&, ps::Context& context) {
                           if (context.place().position < 3) return;
                           if (context.place().position == 3) stop.request_stop();
                           while (!context.stop_requested()) std::this_thread::yield();
                         });
  write_to(disk, p, {.threads = 2, .stop = stop.get_token()});
  CHECK(disk.kept.size() <= 3);
  CHECK(disk.finished == 0);
}

TEST_CASE("a shuffled stream is written in its order, each record under its number") {
  const Watchdog dog(60s);
  const ps::Pipeline p = ps::from(Counting{.count = 90}) | ps::shuffle({.seed = 5, .window = 20});
  std::vector<std::uint64_t> order;
  ps::Loader loader(p | ps::batch(8), {.threads = 1, .epochs = 1});
  for (const ps::Batch& b : loader.epoch()) order.insert(order.end(), b.indices().begin(), b.indices().end());
  REQUIRE(order.size() == 90);
  REQUIRE(!std::ranges::is_sorted(order));
  for (const unsigned threads : {1u, 3u})
    for (const std::uint64_t k : {0u, 1u, 33u, 89u}) {
      Disk disk;
      Sink killed{&disk, k};
      CHECK_THROWS(ps::write(p, killed, {.threads = threads, .commit_every = 1}));
      write_to(disk, p, {.threads = threads});
      REQUIRE(disk.kept.size() == 90);
      for (std::uint64_t i = 0; i < 90; ++i) {
        CHECK(disk.kept[i].position == i);
        CHECK(disk.kept[i].index == order[i]);
        CHECK(disk.kept[i].key == digits(order[i]));
      }
    }
}

TEST_CASE("a stream that was written in part is read again, and only what is missing is made") {
  const Watchdog dog(60s);
  std::atomic<std::uint64_t> made{0};
  const ps::Pipeline p =
      ps::from(Counting{.count = 200}) | ps::map([&](ps::Sample&, ps::Context&) { ++made; }) | even();
  for (const std::uint64_t k : {0u, 1u, 40u, 99u}) {
    Disk disk;
    Sink killed{&disk, k};
    CHECK_THROWS(ps::write(p, killed, {.threads = 2, .commit_every = 1}));
    made = 0;
    write_to(disk, p);
    CHECK(disk.kept.size() == 100);
    CHECK(made == 200 - k);
    CHECK(disk.finished == 1);
  }
}
