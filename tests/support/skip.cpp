// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cstdio>

#include "support/catch.hpp"

namespace {
std::atomic<bool> skipped{false};
}

void penstock_test::skip(const char* reason) {
  std::printf("SKIPPED: %s\n", reason);
  skipped = true;
}

bool penstock_test::was_skipped() { return skipped; }
