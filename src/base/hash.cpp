// SPDX-License-Identifier: Apache-2.0
#include "base/hash.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace penstock::detail {

std::uint64_t hash_bytes(const void* data, std::size_t bytes, std::uint64_t seed) noexcept {
  return XXH3_64bits_withSeed(data, bytes, seed);
}

}  // namespace penstock::detail
