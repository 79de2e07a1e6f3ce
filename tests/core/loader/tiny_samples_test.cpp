// SPDX-License-Identifier: Apache-2.0
// Samples so short that the caller makes some of them while it waits: the same batches, errors and stops as ever.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <limits>
#include <random>
#include <thread>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "core/help.hpp"
#include "support/catch.hpp"

using namespace help;
using namespace std::chrono_literals;

namespace {

// Counts what is made on the thread that made this.
struct Made {
  std::thread::id caller = std::this_thread::get_id();
  std::atomic<std::uint64_t> by_caller{0};
};
struct Watch {
  std::shared_ptr<Made> made;
  std::string name() const { return "watch"; }
  void operator()(ps::Sample&, ps::Context&) const {
    if (std::this_thread::get_id() == made->caller) made->by_caller.fetch_add(1, std::memory_order_relaxed);
  }
};

bool may_join() { return std::thread::hardware_concurrency() > 1 && !sanitized(); }
unsigned all_cores() { return std::max(2u, std::thread::hardware_concurrency()); }

// Until the caller has made some, or for so long.
void join_in(ps::Loader& loader, const Made& made, std::chrono::seconds limit = 20s) {
  const auto begun = std::chrono::steady_clock::now();
  if (!may_join()) limit = std::min(limit, 1s);
  for (std::uint64_t before = made.by_caller; made.by_caller < before + 200;) {
    for (const ps::Batch& batch : loader.epoch())
      if (batch.size() == 0) return;
    if (std::chrono::steady_clock::now() - begun > limit) return;
  }
}

}  // namespace

TEST_CASE("a caller that waits for tiny samples makes some of them, and the report says so") {
  if (!may_join()) PENSTOCK_SKIP("one core, or samples that a sanitizer makes long");
  const Watchdog watchdog(60s);
  for (const unsigned threads : {all_cores(), all_cores() + 5}) {
    const auto made = std::make_shared<Made>();
    ps::Loader loader(ps::from(Records(20'000)) | Watch{made} | ps::batch(64), {.threads = threads});
    join_in(loader, *made);
    CHECK(made->by_caller >= 200);
    // The share that it is told for; on a busy machine samples look long at times.
    constexpr std::string_view note = "samples were made by the thread that waits for";
    ps::Report report;
    const auto begun = std::chrono::steady_clock::now();
    do {
      for (int i = 0; i < 20; ++i)
        for (const ps::Batch& batch : loader.epoch()) CHECK(batch.size() != 0);
      report = loader.report();
    } while (report.text().find(note) == std::string::npos && std::chrono::steady_clock::now() - begun < 20s);
    CAPTURE(report.text());
    CHECK(report.text().find(note) != std::string::npos);
    CHECK(report.text().find("were seen at once") == std::string::npos);
    CHECK(report.bound != ps::Bound::consumer);
  }
}

TEST_CASE("batches of tiny samples are the same whoever makes them, after a resume and an epoch given up") {
  const Watchdog watchdog(60s);
  std::uint64_t by_callers = 0;
  std::mt19937_64 random(20261124);
  const auto upto = [&](std::uint64_t n) { return random() % n; };
  for (int round = 0; round < 12; ++round) {
    const std::uint64_t records = 3'000 + upto(4'000), rows = 1 + upto(100);
    const ps::OnError policy = std::array{ps::OnError::fail, ps::OnError::replace, ps::OnError::mask}[upto(3)];
    CAPTURE(round, records, rows, static_cast<int>(policy));
    const auto made = std::make_shared<Made>();
    const auto build = [&, faulty = policy != ps::OnError::fail](std::uint64_t seed) {
      Records source{.count = records};
      if (faulty)
        for (std::uint64_t i = 0; i < records; i += 31) source.shared->faults[i] = Fault::corrupt;
      return ps::from(source) | ps::shuffle({.seed = seed}) | Watch{made} | AddDraw{} |
             ps::on_error({.policy = policy}) | ps::batch(rows, {.tail = ps::Tail::pad});
    };
    const std::uint64_t seed = random();
    const ps::Pipeline pipeline = build(seed);
    const auto expected = collect(pipeline, {.threads = 1}, 4);
    const std::size_t each = expected.size() / 4;

    const unsigned threads = all_cores() + static_cast<unsigned>(upto(4)), depth = 2 + static_cast<unsigned>(upto(5));
    ps::Loader loader(pipeline, {.threads = threads, .depth = depth});
    std::vector<Got> got = collect(loader);
    std::size_t at = upto(each);
    for (std::size_t i = 0; i < at; ++i) got.push_back(copy(*loader.next()));
    ps::Loader other(pipeline, {.threads = threads, .depth = depth});
    other.resume(loader.state());
    for (const bool resumed : {false, true}) {
      ps::Loader& rest = resumed ? other : loader;
      std::vector<Got> all = got;
      while (auto batch = rest.next()) all.push_back(copy(*batch));
      for (std::size_t i = upto(each); i > 0; --i) static_cast<void>(rest.next());
      rest.end_epoch();
      for (const Got& batch : collect(rest)) all.push_back(batch);
      REQUIRE(all.size() == 3 * each);
      for (std::size_t i = 0; i < 2 * each; ++i) REQUIRE(all[i] == expected[i]);
      for (std::size_t i = 2 * each; i < 3 * each; ++i) REQUIRE(all[i] == expected[i + each]);
    }
    by_callers += made->by_caller;
  }
  if (may_join()) CHECK(by_callers > 0);
}

TEST_CASE("the first error of tiny samples is the first in order, after all batches before it") {
  const Watchdog watchdog(60s);
  for (std::uint64_t round = 0; round < 40; ++round) {
    const auto made = std::make_shared<Made>();
    Records source{.count = 20'000};
    for (const std::uint64_t index : {7'000 + 97 * round, 7'001 + 97 * round, 7'064 + 97 * round})
      source.shared->faults[index] = Fault::corrupt;
    ps::Loader loader(ps::from(source) | Watch{made} | ps::batch(16), {.threads = all_cores() + 2});
    std::uint64_t batches = 0;
    const auto error = error_of([&] {
      while (loader.next()) ++batches;
    });
    REQUIRE(error);
    CHECK(error->index() == 7'000 + 97 * round);
    CHECK(batches == (7'000 + 97 * round) / 16);
  }
}

TEST_CASE("samples that become long are shared out among all runners, those already taken too") {
  const Watchdog watchdog(60s);
  const unsigned threads = all_cores() + 6;
  for (int round = 0; round < 2; ++round) {
    const auto made = std::make_shared<Made>();
    struct Slow {
      std::atomic<bool> on{false};
      std::atomic<unsigned> at_once{0}, most{0};
    };
    const auto slow = std::make_shared<Slow>();
    Records source{.count = 100'000};
    source.shared->before_read = [slow](std::uint64_t) {
      if (!slow->on) return;
      const unsigned now = ++slow->at_once;
      for (unsigned most = slow->most; most < now && !slow->most.compare_exchange_weak(most, now);) {
      }
      std::this_thread::sleep_for(40ms);
      --slow->at_once;
    };
    ps::Loader loader(ps::from(source) | Watch{made} | ps::batch(64), {.threads = threads});
    join_in(loader, *made);
    slow->on = true;
    // One after the other, the 64 samples of a batch would take 2.6 s.
    std::chrono::steady_clock::duration longest{};
    for (int i = 0; i < 7; ++i) {
      const auto begun = std::chrono::steady_clock::now();
      REQUIRE(loader.next());
      longest = std::max(longest, std::chrono::steady_clock::now() - begun);
    }
    CHECK(slow->most >= threads - 2);
    CHECK(longest < 1500ms);
  }
}

#if defined(__x86_64__)
TEST_CASE("samples have the same bits in a caller that flushes denormal numbers to zero") {
  const Watchdog watchdog(60s);
  struct Halve {
    std::shared_ptr<std::atomic<std::uint64_t>> zeros;
    std::string name() const { return "halve"; }
    void operator()(ps::Sample&, ps::Context&) const {
      volatile float half = std::numeric_limits<float>::min();
      half = half * 0.5f;
      if (half == 0.0f) ++*zeros;
    }
  };
  const auto made = std::make_shared<Made>();
  const auto zeros = std::make_shared<std::atomic<std::uint64_t>>(0);
  ps::Loader loader(ps::from(Records(20'000)) | Watch{made} | Halve{zeros} | ps::batch(64), {.threads = all_cores()});
  const unsigned before = _mm_getcsr();
  _mm_setcsr(before | 0x8040u);
  join_in(loader, *made);
  (void)loader.pipeline().at(3);
  const unsigned after = _mm_getcsr();
  _mm_setcsr(before);
  CHECK((after & 0x8040u) == 0x8040u);
  if (may_join()) CHECK(made->by_caller >= 200);
  CHECK(*zeros == 0);
}
#endif

TEST_CASE("a stop comes through to a caller that makes samples itself") {
  const Watchdog watchdog(60s);
  for (int round = 0; round < 30; ++round) {
    const auto made = std::make_shared<Made>();
    ps::Loader loader(ps::from(Records(5'000)) | Watch{made} | ps::batch(32), {.threads = all_cores() + 1});
    if (round % 3 != 0) join_in(loader, *made, 1s);
    std::thread stopper([&] {
      std::this_thread::sleep_for(std::chrono::microseconds(300 * round));
      loader.stop();
    });
    for (;;) {  // to the stop, over as many epochs as that takes
      std::uint64_t more = 0;
      while (loader.next()) ++more;
      if (more == 0) break;
    }
    stopper.join();
    CHECK(!loader.next());
  }
}
