// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <penstock/detail/export.hpp>

/// The version of these headers: MAJOR.MINOR.PATCH.
#define PENSTOCK_VERSION_MAJOR 0
/// See PENSTOCK_VERSION_MAJOR.
#define PENSTOCK_VERSION_MINOR 2
/// See PENSTOCK_VERSION_MAJOR.
#define PENSTOCK_VERSION_PATCH 0

/// A version as one number, which is larger for a later version. Each of the parts is below 1,000.
#define PENSTOCK_VERSION_OF(major, minor, patch) ((major)*1000000 + (minor)*1000 + (patch))
/// The version of these headers, to compare with PENSTOCK_VERSION_OF.
#define PENSTOCK_VERSION PENSTOCK_VERSION_OF(PENSTOCK_VERSION_MAJOR, PENSTOCK_VERSION_MINOR, PENSTOCK_VERSION_PATCH)

namespace penstock {

/// Returns the version of the library that runs, like "0.1.0". It differs from the version of the
/// headers if a program runs with a later shared library of the same minor version. Any thread may call it.
PENSTOCK_API const char* version() noexcept;

}  // namespace penstock
