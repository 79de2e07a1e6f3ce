// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace penstock::remote {

/// Which version of which file an entry of the cache is from.
struct CacheKey {
  std::uint64_t high = 0, low = 0;
  /// Returns 32 hexadecimal digits.
  std::string text() const;
};

/// Returns the key of a file's version. `url` may have a query, of which signatures do not count: they differ from run
/// to run.
CacheKey cache_key(std::string_view url, std::string_view version, std::uint64_t size);

}  // namespace penstock::remote
