// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <penstock/version.hpp>

#include <cstdio>

/// Prints the version that the program was compiled with, and what it did. @returns the program's exit status.
inline int say(const char* what, bool right) {
  std::printf("penstock %d.%d.%d: %s: %s\n", PENSTOCK_VERSION_MAJOR, PENSTOCK_VERSION_MINOR, PENSTOCK_VERSION_PATCH,
              what, right ? "right" : "wrong");
  return right ? 0 : 1;
}
