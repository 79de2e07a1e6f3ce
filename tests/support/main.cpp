// SPDX-License-Identifier: Apache-2.0
// main() of every test program.
#ifndef PENSTOCK_CATCH2_V3
#define CATCH_CONFIG_RUNNER
#endif
#include "support/catch.hpp"

int main(int argc, char* argv[]) {
  // Catch2 exits with the number of failures, or of tests when it lists them; 4 must mean "skipped" and nothing else.
  // (4, because Catch2 3 tells ctest that number.)
  if (Catch::Session().run(argc, argv) != 0) return 1;
  return penstock_test::was_skipped() ? 4 : 0;
}
