// SPDX-License-Identifier: Apache-2.0
#include <penstock/version.hpp>

namespace penstock {

namespace {

#define PENSTOCK_TEXT(number) #number
#define PENSTOCK_NUMBERS(major, minor, patch) PENSTOCK_TEXT(major) "." PENSTOCK_TEXT(minor) "." PENSTOCK_TEXT(patch)
constexpr const char* text = PENSTOCK_NUMBERS(PENSTOCK_VERSION_MAJOR, PENSTOCK_VERSION_MINOR, PENSTOCK_VERSION_PATCH);

}  // namespace

const char* version() noexcept { return text; }

}  // namespace penstock
