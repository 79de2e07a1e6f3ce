// SPDX-License-Identifier: Apache-2.0
#include <penstock/testing/statistics_resource.hpp>

#include "ring/memory_plan.hpp"

#include "core/help.hpp"
#include "support/catch.hpp"

using namespace help;
using namespace penstock::detail;
using namespace penstock::detail::runtime;

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
  ps::testing::StatisticsResource memory(ps::host_memory());
  const ps::Pipeline p = ps::from(Records{.count = 64, .width = 64 << 10}) | ps::batch(4);  // 1 MiB a batch
  ps::Loader loader(p, {.threads = 2, .max_memory_bytes = ps::MiB(8), .depth = 20, .host_memory = &memory});
  CHECK(collect(loader).size() == 16);
  CHECK(memory.peak() <= ps::MiB(5));
  CHECK(loader.report().notes.size() >= 1);
  std::uint64_t all = 0;
  for (const ps::MemoryPurpose& row : loader.report().memory) all += row.bytes();
  CHECK(all <= ps::MiB(8));
  CHECK(error_of([&] { ps::Loader(p, {.threads = 2, .max_memory_bytes = ps::MiB(3)}); })->code() ==
        ps::Errc::out_of_memory);
}

TEST_CASE("what may be raised is paid from half of what a limit leaves") {
  const std::size_t mib = 1 << 20;
  MemoryRequest r{.max_memory_bytes = 1024 * mib,
                  .threads = 4,
                  .rows = 8,
                  .buffer_bytes = 10 * mib,
                  .sample_bytes = mib,
                  .blocks = true,
                  .reorder = {.row_bytes = mib, .entries = [](unsigned threads) { return std::size_t{8} * threads; }}};
  const MemoryPlan still = plan_memory(r);
  CHECK_FALSE(still.growth);
  CHECK(still.most() == still.first());
  r.raises.most_threads = 16;
  r.raises.depth = r.raises.entries = r.raises.blocks = true;
  const MemoryPlan plan = plan_memory(r);
  CHECK(plan.first() == still.first());
  CHECK(plan.notes == still.notes);
  const TuningBounds growth = plan.growth.value();
  const TunedSettings first = plan.first(), most = growth.most;
  CHECK(growth.first == first);
  CHECK(growth.cost(first) == 0);
  CHECK(most.threads > 4);
  CHECK(most.depth > first.depth);
  CHECK(most.entries > first.entries);
  CHECK(most.block_limit == first.block_limit + growth.bytes);
  // All that there may be together, but for what costs more than there is.
  const std::size_t all = first.depth * r.buffer_bytes + first.entries * r.reorder.row_bytes + first.block_limit +
                          (most.threads + 1) * plan.scratch_limit + growth.bytes;
  CHECK(all <= r.max_memory_bytes);
  CHECK(all >= r.max_memory_bytes * 9 / 10);
  const std::size_t left = r.max_memory_bytes - (all - growth.bytes - (most.threads + 1) * plan.scratch_limit);
  CHECK(growth.bytes <= left / 2);
  CHECK(plan.scratch_limit > 16 * mib);
  for (TunedSettings s : {TunedSettings{4, most.depth, first.entries, first.block_limit},
                          TunedSettings{4, first.depth, most.entries, first.block_limit},
                          TunedSettings{4, first.depth, first.entries, most.block_limit}})
    CHECK(growth.cost(s) <= growth.bytes);
  // While samples in work become more, both lots of them are there.
  CHECK(growth.cost({4, first.depth, first.entries + 1, first.block_limit}) ==
        2 * (first.entries + 1) * growth.entry_bytes);
}

TEST_CASE("without a limit, as much may be added as all takes, or 1 GiB") {
  MemoryRequest r{.threads = 2, .rows = 8, .buffer_bytes = 1 << 20, .raises = {.depth = true}};
  CHECK(plan_memory(r).growth->bytes == std::size_t{1} << 30);
  CHECK(plan_memory(r).most().depth == 16 * 4);
  CHECK(plan_memory(r).most().threads == 2);
  r.buffer_bytes = std::size_t{1} << 30;
  CHECK(plan_memory(r).growth->bytes >= std::size_t{4} << 30);
  CHECK(plan_memory(r).growth->bytes <= std::size_t{5} << 30);
  CHECK(plan_memory(r).most().depth == 8);
  // Sizes whose sum does not fit 64 bits.
  r.buffer_bytes = ~std::size_t{0} / 2;
  CHECK(plan_memory(r).most().depth <= 5);
}

TEST_CASE("pinned batches are raised within their own limit") {
  MemoryRequest r{.threads = 2,
                  .rows = 8,
                  .buffer_bytes = 1 << 20,
                  .max_pinned_bytes = 6 << 20,
                  .pinned_buffer_bytes = 1 << 20,
                  .raises = {.depth = true}};
  CHECK(plan_memory(r).most().depth == 6);
  // What is left of it is the rows' that have any size.
  r.append_buffer = 1 << 10;
  CHECK_FALSE(plan_memory(r).growth);
}
