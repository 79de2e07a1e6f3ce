// SPDX-License-Identifier: Apache-2.0
// What tests of memory are made with: a resource that counts, and one that fails.
#include <penstock/penstock.hpp>
#include <penstock/testing/fail_after_resource.hpp>
#include <penstock/testing/statistics_resource.hpp>

#include "support/catch.hpp"

namespace PENSTOCK_TEST_FILE {

namespace ps = penstock;

TEST_CASE("statistics count") {
  ps::testing::StatisticsResource stats(ps::host_memory());
  void* a = stats.allocate(100, 64);
  void* b = stats.allocate(50, 64);
  stats.deallocate(a, 100, 64);
  void* c = stats.allocate(20, 64);
  CHECK(stats.allocations() == 3);
  CHECK(stats.used() == 70);
  CHECK(stats.peak() == 150);
  stats.deallocate(b, 50, 64);
  stats.deallocate(c, 20, 64);
  CHECK(stats.used() == 0);
}

TEST_CASE("the n-th allocation fails: once, or from then on") {
  ps::testing::FailAfterResource once(ps::host_memory(), 2, false);
  ps::testing::FailAfterResource always(ps::host_memory(), 2, true);
  const auto works = [](ps::MemoryResource& r) {
    try {
      r.deallocate(r.allocate(8, 8), 8, 8);
      return true;
    } catch (const ps::Error&) {
      return false;
    }
  };
  CHECK((works(once) && !works(once) && works(once) && works(once)));
  CHECK((works(always) && !works(always) && !works(always) && !works(always)));
}

}  // namespace PENSTOCK_TEST_FILE
