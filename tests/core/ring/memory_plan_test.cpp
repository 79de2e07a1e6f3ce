#include "ring/memory_plan.hpp"

#include "core/help.hpp"
#include "support/catch.hpp"

using namespace help;
using namespace penstock::detail;

TEST_CASE("without a limit the ring is deep enough for all runners") {
  const MemoryPlan plan = plan_memory({.threads = 4, .rows = 64, .buffer_bytes = 1000});
  CHECK(plan.depth == 4);
  CHECK(plan.threads == 4);
  CHECK(plan.notes.empty());
  CHECK(plan_memory({.threads = 16, .rows = 1}).depth >= 2 + 2 * 16);  // one row a batch: every runner needs batches
  CHECK(plan_memory({.depth = 7, .threads = 1}).depth == 7);
  CHECK(plan_memory({.depth = 1, .threads = 1}).depth == 2);
}

TEST_CASE("sizes whose sum does not fit 64 bits are refused, not wrapped around") {
  // Eight such batches, or two such samples, would be 2^64 bytes: as good as none.
  const auto code_of = [](std::size_t buffer_bytes, std::size_t sample_bytes) {
    return error_of([&] {
             (void)plan_memory({.max_memory_bytes = 1u << 30,
                                .threads = 4,
                                .rows = 1,
                                .buffer_bytes = buffer_bytes,
                                .sample_bytes = sample_bytes});
           })
        .value()
        .code();
  };
  CHECK(code_of(std::size_t{1} << 62, 1) == ps::Errc::out_of_memory);
  CHECK(code_of(1, std::size_t{1} << 63) == ps::Errc::out_of_memory);
}

TEST_CASE("a budget lowers depth, then threads, then refuses with a table") {
  const std::size_t mib = 1 << 20;
  MemoryRequest r{.max_memory_bytes = 100 * mib,
                  .depth = 8,
                  .threads = 4,
                  .rows = 8,
                  .buffer_bytes = 10 * mib,
                  .sample_bytes = mib};
  // 8 buffers of 10 and 5 shares of 2 MiB are 90.
  MemoryPlan plan = plan_memory(r);
  CHECK(plan.depth == 8);
  CHECK(plan.threads == 4);
  CHECK(8 * 10 * mib + 5 * plan.scratch_limit <= 100 * mib);
  CHECK(plan.scratch_limit >= 2 * mib);
  r.max_memory_bytes = 50 * mib;
  plan = plan_memory(r);
  CHECK(plan.depth == 4);
  CHECK(plan.threads == 4);
  CHECK(plan.notes.size() == 1);
  r.max_memory_bytes = 26 * mib;
  plan = plan_memory(r);
  CHECK(plan.depth == 2);
  CHECK(plan.threads == 2);
  CHECK(plan.notes.size() == 2);
  CHECK(plan.depth * r.buffer_bytes + (plan.threads + std::size_t{1}) * plan.scratch_limit <= r.max_memory_bytes);
  r.max_memory_bytes = 23 * mib;
  const auto error = error_of([&] { (void)plan_memory(r); });
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
  ps::Loader loader(p, {.threads = 2, .max_memory_bytes = ps::MiB(8), .depth = 20, .host_memory = &memory});
  CHECK(collect(loader).size() == 16);
  CHECK(memory.peak() <= ps::MiB(5));
  CHECK(loader.report().notes.size() >= 1);
  std::uint64_t all = 0;
  for (const ps::MemoryRow& row : loader.report().memory) all += row.bytes();
  CHECK(all <= ps::MiB(8));
  CHECK(error_of([&] { ps::Loader(p, {.threads = 2, .max_memory_bytes = ps::MiB(3)}); })->code() ==
        ps::Errc::out_of_memory);
}
