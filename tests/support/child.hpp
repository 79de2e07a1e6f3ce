// SPDX-License-Identifier: Apache-2.0
// A child process made by fork().
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include "support/catch.hpp"

namespace penstock_test {

// Runs `act` in a child; true when it returned true.
inline bool in_child(const auto& act) {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    bool fine = false;
    try {
      fine = act();
    } catch (...) {
    }
    ::_exit(fine ? 0 : 1);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace penstock_test
