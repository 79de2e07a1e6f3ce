// SPDX-License-Identifier: Apache-2.0
// What runs counted, added up.
#include "support/catch.hpp"

#include <string>

#include "engine/run_totals.hpp"

using namespace penstock::detail;
using namespace penstock::detail::runtime;

TEST_CASE("what two runs of a chain counted is added up, but for what there is at the most") {
  RunTotals a, b;
  a.steps.resize(2);
  b.steps.resize(2);
  a.steps[1] = {{.cpu_ns = 5, .bytes = 6, .wait_ns = 7}, 1, "odd"};
  b.steps[1] = {{.cpu_ns = 50, .bytes = 60, .wait_ns = 70}};
  a.samples.all = 3, b.samples.all = 4, a.kept = 2, b.kept = 1, a.busy_ns = 10, b.busy_ns = 20;
  a.idle.idle_ns[2] = 1, b.idle.idle_ns[2] = 2, a.idle.all_ns = 5, b.idle.all_ns = 6;
  a.waits.looks = 1, b.waits.looks = 2, a.waits.waits[1] = 1, b.waits.waits[1] = 1;
  a.blocks.loads = 7, b.blocks.loads = 8, a.blocks.peak_bytes = 100, b.blocks.peak_bytes = 50;
  a.threads_seen = 3, b.threads_seen = 2, a.threads = 2, b.threads = 2;
  a.sample_times.run.resize(2), b.sample_times.run.resize(1);
  const RunTotals all = together(a, b);
  CHECK(all.steps[1].cpu_ns == 55);
  CHECK(all.steps[1].bytes == 66);
  CHECK(all.steps[1].wait_ns == 77);
  CHECK(all.steps[1].remarked == 1);
  CHECK(std::string(all.steps[1].remark) == "odd");
  CHECK(all.samples.all == 7);
  CHECK(all.kept == 3);
  CHECK(all.busy_ns == 30);
  CHECK(all.idle.idle_ns[2] == 3);
  CHECK(all.idle.all_ns == 11);
  CHECK(all.waits.looks == 3);
  CHECK(all.waits.waits[1] == 2);
  CHECK(all.blocks.loads == 15);
  CHECK(all.blocks.peak_bytes == 100);
  CHECK(all.threads_seen == 3);
  CHECK(all.threads == 2);
  CHECK(all.sample_times.run.size() == 3);
}
