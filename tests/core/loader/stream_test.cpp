// SPDX-License-Identifier: Apache-2.0
// Sources that can only be read in order.
#include "support/catch.hpp"

#include <numeric>
#include <set>

#include "core/reorder/reordered_help.hpp"

using namespace help;

TEST_CASE("a stream is read by one runner at a time, and its records are worked on by all") {
  const Watchdog dog(60s);
  Counting stream{.count = 500};
  Meeting together(2);
  std::atomic<int> waits{4};
  const ps::Pipeline p = ps::from(stream) |
                         ps::map("y",
                                 [&](ps::View<std::int64_t, 0>) {
                                   if (waits-- > 0) together.attend();
                                 }) |
                         ps::batch(16);
  CHECK(p.size() == ps::unknown_size);
  ps::Loader loader(p, {.threads = 3, .epochs = 3});
  for (int epoch = 0; epoch < 3; ++epoch) {
    std::vector<std::uint64_t> seen;
    for (const ps::Batch& b : loader.epoch()) seen.insert(seen.end(), b.indices().begin(), b.indices().end());
    std::vector<std::uint64_t> expected(500);
    std::iota(expected.begin(), expected.end(), 0);
    CHECK(seen == expected);
  }
  CHECK(stream.shared->reads == 1500);
}

TEST_CASE("a stream that can seek goes on where it was, one that can't is read again, and the plan says so") {
  const Watchdog dog(60s);
  Counting replayed{.count = 100};
  Seeking sought;
  sought.count = 100;
  const ps::Pipeline a = ps::from(replayed) | ps::batch(8), b = ps::from(sought) | ps::batch(8);
  CHECK(a.plan().find("reads all records before it once more") != std::string::npos);
  CHECK(b.plan().find("seeks") != std::string::npos);
  for (const ps::Pipeline& p : {a, b}) {
    ps::State state;
    {
      ps::Loader first(p, {.threads = 1, .epochs = 1});
      for (int i = 0; i < 9; ++i) REQUIRE(first.next());
      state = first.state();
    }
    CHECK(state.position == 72);
    replayed.shared->reads = sought.shared->reads = 0;
    ps::Loader rest(p, {.threads = 2, .epochs = 1});
    rest.resume(state);
    std::vector<std::uint64_t> seen;
    for (const ps::Batch& batch : rest.epoch()) seen.insert(seen.end(), batch.indices().begin(), batch.indices().end());
    REQUIRE(seen.size() == 28);
    CHECK(seen.front() == 72);
    CHECK(replayed.shared->reads + sought.shared->reads == (p.plan().find("seeks") != std::string::npos ? 28 : 100));
  }
}

TEST_CASE("a stream's shuffle keeps to its blocks, has every record once, and other epochs other orders") {
  const Watchdog dog(60s);
  const ps::Pipeline p = ps::from(Counting{.count = 103}) | ps::shuffle({.seed = 5, .window = 10}) | ps::batch(6);
  const std::vector<Got> got = collect(p, {.threads = 3}, 2);
  const std::vector<std::uint64_t> all = indices_of(got);
  REQUIRE(all.size() == 206);
  for (std::size_t epoch = 0; epoch < 2; ++epoch)
    for (std::size_t block = 0; block < 11; ++block) {
      const std::size_t n = block == 10 ? 3 : 10;
      std::set<std::uint64_t> records;
      for (std::size_t i = 0; i < n; ++i) records.insert(all[epoch * 103 + block * 10 + i]);
      CHECK(records.size() == n);
      CHECK(*records.begin() == block * 10);
      CHECK(*records.rbegin() == block * 10 + n - 1);
    }
  CHECK(std::vector(all.begin(), all.begin() + 103) != std::vector(all.begin() + 103, all.end()));
}

TEST_CASE("a shuffled stream goes on from the middle of a block") {
  const Watchdog dog(60s);
  for (const bool seeks : {false, true}) {
    Seeking seeking;
    seeking.count = 53;
    const ps::Pipeline p = (seeks ? ps::from(seeking) : ps::from(Counting{.count = 53})) |
                           ps::shuffle({.seed = 9, .window = 10}) | ps::batch(3);
    const std::vector<Got> all = collect(p, {.threads = 2}, 2);
    ps::Loader loader(p, {.threads = 2});
    for (std::size_t i = 0; i < all.size(); ++i) {
      ps::Loader rest(p, {.threads = 3});
      rest.resume(loader.state());
      for (std::size_t k = i; k < all.size();) {
        auto b = rest.next();
        if (b) REQUIRE(copy(*b) == all[k++]);
      }
      while (!loader.next()) {
      }
    }
  }
}

TEST_CASE("a stream that can't be copied is lent to one loader at a time") {
  OnlyOne stream;
  const ps::Pipeline p = ps::from(std::move(stream)) | ps::batch(4);
  auto first = std::make_unique<ps::Loader>(p, ps::LoaderOptions{.threads = 1});
  const auto error = error_of([&] { ps::Loader second(p, {.threads = 1}); });
  REQUIRE(error);
  CHECK(error->cause().find("another loader") != std::string::npos);
  first.reset();
  ps::Loader second(p, {.threads = 1});
  CHECK(second.next());
}

TEST_CASE("a stream goes back when its loader does, though a batch lives on") {
  const ps::Pipeline p = ps::from(OnlyOne{}) | ps::batch(4);
  ps::Batch held;
  {
    ps::Loader first(p, {.threads = 1});
    held = *first.next();
  }
  ps::Loader second(p, {.threads = 1});
  CHECK(second.next());
  CHECK(held.view<std::int64_t, 1>("y")(3) == 3);
}

TEST_CASE("a stream is not read after its end, also not by a resume there") {
  const Watchdog dog(60s);
  struct Ends : Counting {
    bool ended = false;
    void reset(std::uint64_t epoch) {
      ended = false;
      Counting::reset(epoch);
    }
    bool next(ps::SampleBuilder& out) {
      if (ended) throw ps::Error(ps::Errc::invalid_argument, "read after its end");
      ended = !Counting::next(out);
      return !ended;
    }
  };
  const ps::Pipeline p = ps::from(Ends{}) | ps::batch(5);
  ps::Loader loader(p, {.threads = 1, .epochs = 2});
  REQUIRE(loader.next());
  REQUIRE(loader.next());
  const ps::State state = loader.state();
  CHECK(state.position == 10);
  ps::Loader rest(p, {.threads = 1, .epochs = 2});
  rest.resume(state);
  CHECK_FALSE(rest.next());
  CHECK(rest.next()->epoch() == 1);
}

TEST_CASE("a slow stream is said to be one, and its records are handed on as they come") {
  const Watchdog dog(60s);
  Counting slow{.count = 40};
  slow.shared->before_read = [](std::uint64_t) { std::this_thread::sleep_for(3ms); };
  ps::Loader loader(ps::from(slow) | ps::batch(1), {.threads = 1, .epochs = 1});
  const auto begun = std::chrono::steady_clock::now();
  REQUIRE(loader.next());
  CHECK(std::chrono::steady_clock::now() - begun < 18ms * (sanitized() ? 10 : 1));  // a chunk of eight takes 24 ms
  while (loader.next()) {
  }
  const ps::Report report = loader.report();
  CHECK(report.bound == ps::Bound::storage);
  CHECK(report.stages[0].bytes == 40 * 8);
  CHECK(report.copied_bytes == 2 * 40 * 8);  // to where each waits, and to its place
}
