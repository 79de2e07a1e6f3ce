// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

namespace penstock_test {

/// What a test does at calls of the system that the program, the library in it included, makes. Not with threads.
struct SystemCalls {
  std::function<void(const std::string& path)> before_open;
  std::function<void(const std::string& path)> before_sync;  ///< fsync and fdatasync
  std::function<void()> before_madvise;
};
SystemCalls& system_calls();

}  // namespace penstock_test
