// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <optional>
#include <string>

namespace penstock_test {

/// Sets where the default folder of caches lies, as long as it lives.
class CacheHome {
 public:
  explicit CacheHome(const std::string& folder) {
    if (const char* const before = std::getenv(variable)) before_ = before;
    ::setenv(variable, folder.c_str(), 1);
  }
  CacheHome(const CacheHome&) = delete;
  CacheHome& operator=(const CacheHome&) = delete;
  ~CacheHome() {
    if (before_)
      ::setenv(variable, before_->c_str(), 1);
    else
      ::unsetenv(variable);
  }

 private:
  static constexpr const char* variable = "XDG_CACHE_HOME";
  std::optional<std::string> before_;
};

}  // namespace penstock_test
