#include "support/catch.hpp"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <numeric>

#include "base/latency.hpp"
#include "data/scratch.hpp"
#include "help.hpp"
#include "pipeline/policy.hpp"
#include "ring/budget.hpp"

using namespace help;
using namespace penstock::detail;

// -- budget --

TEST_CASE("without a limit the ring is deep enough for all runners") {
  const Budget b = resolve_budget({.threads = 4, .rows = 64, .slot_bytes = 1000});
  CHECK(b.depth == 4);
  CHECK(b.threads == 4);
  CHECK(b.notes.empty());
  CHECK(resolve_budget({.threads = 16, .rows = 1}).depth >= 2 + 2 * 16);  // one row a batch: every runner needs batches
  CHECK(resolve_budget({.depth = 7, .threads = 1}).depth == 7);
  CHECK(resolve_budget({.depth = 1, .threads = 1}).depth == 2);
}

TEST_CASE("sizes whose sum does not fit 64 bits are refused, not wrapped around") {
  // Eight such batches, or two such samples, would be 2^64 bytes: as good as none.
  const auto code_of = [](std::size_t slot_bytes, std::size_t sample_bytes) {
    return error_of([&] {
             (void)resolve_budget(
                 {.memory = 1u << 30, .threads = 4, .rows = 1, .slot_bytes = slot_bytes, .sample_bytes = sample_bytes});
           })
        .value()
        .code();
  };
  CHECK(code_of(std::size_t{1} << 62, 1) == ps::Errc::out_of_memory);
  CHECK(code_of(1, std::size_t{1} << 63) == ps::Errc::out_of_memory);
}

TEST_CASE("a budget lowers depth, then threads, then refuses with a table") {
  const std::size_t mib = 1 << 20;
  BudgetRequest r{
      .memory = 100 * mib, .depth = 8, .threads = 4, .rows = 8, .slot_bytes = 10 * mib, .sample_bytes = mib};
  // 8 slots of 10 and 5 shares of 2 MiB are 90.
  Budget b = resolve_budget(r);
  CHECK(b.depth == 8);
  CHECK(b.threads == 4);
  CHECK(8 * 10 * mib + 5 * b.scratch_limit <= 100 * mib);
  CHECK(b.scratch_limit >= 2 * mib);
  r.memory = 50 * mib;
  b = resolve_budget(r);
  CHECK(b.depth == 4);
  CHECK(b.threads == 4);
  CHECK(b.notes.size() == 1);
  r.memory = 26 * mib;
  b = resolve_budget(r);
  CHECK(b.depth == 2);
  CHECK(b.threads == 2);
  CHECK(b.notes.size() == 2);
  CHECK(b.depth * r.slot_bytes + (b.threads + std::size_t{1}) * b.scratch_limit <= r.memory);
  r.memory = 23 * mib;
  const auto error = error_of([&] { (void)resolve_budget(r); });
  REQUIRE(error);
  CHECK(error->code() == ps::Errc::out_of_memory);
  for (const char* words : {"23 MiB", "10 MiB", "24 MiB", "raise it"}) {
    CAPTURE(words);
    CHECK(error->cause().find(words) != std::string::npos);
  }
}

TEST_CASE("a loader stays inside its byte budget") {
  ps::StatisticsResource memory(ps::host_memory());
  const ps::Pipeline p = ps::from(Records{.count = 64, .width = 64 << 10}) | ps::batch(4);  // 1 MiB a batch
  ps::Loader loader(p, {.threads = 2, .memory = ps::MiB(8), .depth = 20, .host_memory = &memory});
  CHECK(collect(loader).size() == 16);
  CHECK(memory.peak() <= ps::MiB(5));
  CHECK(loader.report().notes.size() >= 1);
  std::uint64_t all = 0;
  for (const ps::MemoryRow& row : loader.report().memory) all += row.bytes();
  CHECK(all <= ps::MiB(8));
  CHECK(error_of([&] { ps::Loader(p, {.threads = 2, .memory = ps::MiB(3)}); })->code() == ps::Errc::out_of_memory);
}

// -- latency --

TEST_CASE("latency quantiles are within 13 percent") {
  CHECK(Latency().quantile(0.5) == 0);
  for (const std::uint64_t ns : {0ull, 1ull, 7ull, 8ull, 9ull, 1000ull, 123456789ull, 1ull << 40, ~0ull}) {
    Latency l;
    l.record(ns);
    const double q = l.quantile(0.5) * 1e9, exact = static_cast<double>(ns);
    CAPTURE(ns, q);
    CHECK(q >= exact * 0.999999);
    CHECK(q <= exact * 1.13 + 1);
  }
  Latency l;
  for (std::uint64_t i = 1; i <= 1000; ++i) l.record(i * 1000);
  CHECK(l.quantile(0.5) * 1e9 == Approx(500'000).epsilon(0.13));
  CHECK(l.quantile(0.99) * 1e9 == Approx(990'000).epsilon(0.13));
  CHECK(l.quantile(0.0) * 1e9 == Approx(1000).epsilon(0.13));
  CHECK(l.quantile(1.0) * 1e9 == Approx(1'000'000).epsilon(0.13));
}

// -- scratch --

TEST_CASE("scratch is aligned, distinct, and settles into one block") {
  ScratchArena arena;
  for (int sample = 0; sample < 5; ++sample) {
    arena.reset();
    std::vector<std::pair<std::byte*, std::size_t>> given;
    for (std::uint64_t i = 0; i < 20; ++i) {
      const std::size_t n = mix(i) % 100'000;
      std::byte* p = arena.allocate(n);
      CHECK(reinterpret_cast<std::uintptr_t>(p) % 64 == 0);
      std::memset(p, static_cast<int>(i), n);
      given.emplace_back(p, n);
    }
    for (std::size_t i = 0; i < given.size(); ++i)
      for (std::size_t j = 0; j < given[i].second; j += 997) REQUIRE(static_cast<std::size_t>(given[i].first[j]) == i);
  }
  const std::size_t capacity = arena.capacity();
  arena.reset();
  CHECK(arena.capacity() == capacity);
  CHECK(arena.peak() <= capacity);
}

TEST_CASE("whether a sample fits does not depend on those before it, also where the system refuses one large block") {
  if (sanitized()) PENSTOCK_SKIP("a sanitizer reserves more address space than the limit this test sets");
  constexpr std::size_t mib = 1u << 20;
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  REQUIRE(pages != 0);
  const pid_t child = ::fork();
  if (child == 0) {
    // Room for what fits the arena's limit, but not for all of that limit at once.
    const rlim_t most = pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) + 460 * mib;
    const rlimit space{most, most};
    if (::setrlimit(RLIMIT_AS, &space) != 0) ::_exit(2);
    try {
      ScratchArena arena(500 * mib);
      arena.allocate(250 * mib);
      arena.reset();
      arena.allocate(400 * mib);
    } catch (const ps::Error&) {
      ::_exit(1);
    }
    ::_exit(0);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("scratch that is rewound is used again") {
  ScratchArena arena;
  std::byte* a = arena.allocate(100);
  const auto mark = arena.mark();
  std::byte* b = arena.allocate(200'000);
  arena.rewind(mark);
  CHECK(arena.allocate(100) == a + 128);
  arena.rewind(mark);
  CHECK(arena.allocate(200'000) == b);
  arena.reset();
  CHECK(arena.allocate(300'000) != nullptr);  // now in one block
  CHECK(arena.capacity() <= 600'000);
}

TEST_CASE("scratch has a limit, and survives reaching it") {
  ScratchArena arena(100'000);
  CHECK(arena.allocate(90'000) != nullptr);
  const auto error = error_of([&] { (void)arena.allocate(20'000); });
  REQUIRE(error);
  CHECK(error->code() == ps::Errc::out_of_memory);
  arena.reset();
  CHECK(arena.allocate(90'000) != nullptr);
  CHECK(error_of([&] { (void)arena.allocate(~std::size_t{0} - 5); })->code() == ps::Errc::limit_exceeded);
}

TEST_CASE("whether a sample fits into limited scratch does not depend on those before it") {
  ScratchArena arena(10 << 20);
  for (int sample = 0; sample < 20; ++sample) {
    arena.reset();
    CHECK(arena.allocate(sample % 2 == 0 ? 6 << 20 : 7 << 20) != nullptr);
    if (sample % 5 == 0) CHECK(arena.allocate(3 << 20) != nullptr);
    if (sample % 7 == 0) CHECK(error_of([&] { (void)arena.allocate(8 << 20); })->code() == ps::Errc::out_of_memory);
  }
  CHECK(arena.peak() == 10 << 20);
  CHECK(arena.capacity() <= 10 << 20);
}

// -- policy --

namespace {
std::vector<BadSample> bad_rows(const std::vector<std::uint64_t>& rows, std::uint64_t fatal = ~std::uint64_t{0}) {
  std::vector<BadSample> out;
  for (const std::uint64_t r : rows)
    out.push_back({r, ps::Error(ps::Errc::corrupt, "row " + std::to_string(r)).with_index(100 + r), r == fatal});
  return out;
}
}  // namespace

TEST_CASE("the first fatal error in order is thrown, whenever it was reported") {
  PolicyLedger ledger({});
  auto bad = bad_rows({7, 3, 5, 4}, 5);
  bad[3].fatal = true;
  const auto error = error_of([&] { ledger.account(bad, 0); });
  REQUIRE(error);
  CHECK(error->cause() == "row 4");
  CHECK(ledger.acted() == 0);  // a batch that is not delivered does not count
}

TEST_CASE("max_count ends the run at exactly the sample that was one too many") {
  PolicyLedger ledger({.policy = ps::OnError::mask, .max_count = 3});
  auto two = bad_rows({5, 1});
  ledger.account(two, 0);
  CHECK(ledger.acted() == 2);
  auto one = bad_rows({0});
  ledger.account(one, 10);
  CHECK(ledger.acted() == 3);
  auto more = bad_rows({9, 2, 4});
  const auto error = error_of([&] { ledger.account(more, 20); });
  REQUIRE(error);
  CHECK(error->code() == ps::Errc::quota_exceeded);
  CHECK(*error->index() == 102);
  CHECK(error->cause().find("4 bad samples in 23") != std::string::npos);
  CHECK(error->cause().find("row 2") != std::string::npos);
}

TEST_CASE("max_share counts from 1,000 samples on") {
  PolicyLedger ledger({.policy = ps::OnError::mask, .max_share = 0.01});
  auto many = bad_rows({0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  ledger.account(many, 0);  // 10 of 10: too early to tell
  auto late = bad_rows({8});
  ledger.account(late, 990);  // the 999th
  CHECK(ledger.acted() == 11);
  auto thousandth = bad_rows({99});
  CHECK_NOTHROW(ledger.account(thousandth, 1100));  // 12 of 1,200 is exactly the share
  auto over = bad_rows({98});
  CHECK(error_of([&] { ledger.account(over, 1200); })->code() == ps::Errc::quota_exceeded);
}

TEST_CASE("a ledger goes on where it was resumed, and keeps the first messages") {
  PolicyLedger ledger({.policy = ps::OnError::mask, .max_count = 30});
  ledger.resume(29);
  auto one = bad_rows({1});
  ledger.account(one, 0);
  CHECK(ledger.acted() == 30);
  auto next = bad_rows({1});
  CHECK(error_of([&] { ledger.account(next, 0); })->code() == ps::Errc::quota_exceeded);
  PolicyLedger talkative({.policy = ps::OnError::mask});
  for (int i = 0; i < 5; ++i) {
    auto some = bad_rows({1, 2, 3, 4, 5});
    talkative.account(some, 0);
  }
  CHECK(talkative.acted() == 25);
  CHECK(talkative.messages().size() == 5);  // each of them once
  std::vector<std::uint64_t> many(20);
  std::iota(many.begin(), many.end(), 10);
  auto more = bad_rows(many);
  talkative.account(more, 0);
  CHECK(talkative.messages().size() == 10);
  CHECK(talkative.acted_here() == 45);
  CHECK(ledger.acted_here() == 1);
}
