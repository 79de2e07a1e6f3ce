// SPDX-License-Identifier: Apache-2.0
// The one way to Catch2, whose headers are named differently in versions 2 and 3.
#pragma once

#ifdef PENSTOCK_CATCH2_V3
#include <catch2/catch_all.hpp>
#else
#define CATCH_CONFIG_ENABLE_ALL_STRINGMAKERS
#include <catch2/catch.hpp>
#endif

#ifdef PENSTOCK_CATCH2_V3
using Catch::Approx;
#endif

namespace penstock_test {

// Makes this process report "skipped" to ctest, unless a check fails. Used through PENSTOCK_SKIP.
void skip(const char* reason);
bool was_skipped();

}  // namespace penstock_test

// Ends a TEST_CASE that can't run here (no GPU, no file). Put it first, in the TEST_CASE itself: it returns from the
// enclosing function. The test is counted as skipped, never as passed.
#define PENSTOCK_SKIP(reason)      \
  do {                             \
    ::penstock_test::skip(reason); \
    return;                        \
  } while (false)
