// SPDX-License-Identifier: Apache-2.0
#include "base/latency_histogram.hpp"

#include "support/catch.hpp"

using penstock::detail::LatencyHistogram;

TEST_CASE("latency quantiles are within 13 percent") {
  CHECK(LatencyHistogram().quantile(0.5) == 0);
  for (const std::uint64_t ns : {0ull, 1ull, 7ull, 8ull, 9ull, 1000ull, 123456789ull, 1ull << 40, ~0ull}) {
    LatencyHistogram l;
    l.record(ns);
    const double q = l.quantile(0.5) * 1e9, exact = static_cast<double>(ns);
    CAPTURE(ns, q);
    CHECK(q >= exact * 0.999999);
    CHECK(q <= exact * 1.13 + 1);
  }
  LatencyHistogram l;
  for (std::uint64_t i = 1; i <= 1000; ++i) l.record(i * 1000);
  CHECK(l.quantile(0.5) * 1e9 == Approx(500'000).epsilon(0.13));
  CHECK(l.quantile(0.99) * 1e9 == Approx(990'000).epsilon(0.13));
  CHECK(l.quantile(0.0) * 1e9 == Approx(1000).epsilon(0.13));
  CHECK(l.quantile(1.0) * 1e9 == Approx(1'000'000).epsilon(0.13));
}
