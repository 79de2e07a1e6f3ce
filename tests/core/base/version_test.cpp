// SPDX-License-Identifier: Apache-2.0
#include <penstock/version.hpp>

#include <string>

#include "support/catch.hpp"

namespace ps = penstock;

static_assert(PENSTOCK_VERSION ==
              PENSTOCK_VERSION_OF(PENSTOCK_VERSION_MAJOR, PENSTOCK_VERSION_MINOR, PENSTOCK_VERSION_PATCH));
static_assert(PENSTOCK_VERSION_OF(0, 1, 0) < PENSTOCK_VERSION_OF(0, 1, 1));
static_assert(PENSTOCK_VERSION_OF(0, 1, 999) < PENSTOCK_VERSION_OF(0, 2, 0));
static_assert(PENSTOCK_VERSION_OF(0, 999, 999) < PENSTOCK_VERSION_OF(1, 0, 0));

// Compiles; a call would be a warning that says this.
PENSTOCK_DEPRECATED("use penstock::version()") [[maybe_unused]] const char* old_version();

TEST_CASE("the library says the version of its headers") {
  CHECK(ps::version() == std::to_string(PENSTOCK_VERSION_MAJOR) + "." + std::to_string(PENSTOCK_VERSION_MINOR) + "." +
                             std::to_string(PENSTOCK_VERSION_PATCH));
}
