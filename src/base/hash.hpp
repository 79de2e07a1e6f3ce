// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace penstock::detail {

/// Returns the XXH3 hash of `bytes` bytes. All fingerprints, stage keys and checksums use this hash.
std::uint64_t hash_bytes(const void* data, std::size_t bytes, std::uint64_t seed = 0) noexcept;

inline std::uint64_t hash_text(std::string_view text, std::uint64_t seed = 0) noexcept {
  return hash_bytes(text.data(), text.size(), seed);
}
inline std::uint64_t hash_mix(std::uint64_t a, std::uint64_t b) noexcept {
  const std::uint64_t both[2] = {a, b};
  return hash_bytes(both, sizeof both);
}

}  // namespace penstock::detail
