#include "ring/budget.hpp"

#include "core/help.hpp"
#include "support/catch.hpp"

using namespace help;
using namespace penstock::detail;

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
