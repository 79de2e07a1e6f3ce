// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace penstock::lmdb {

/// Length of a record's key in a cache. The key is the record's index, big-endian, so that keys are in the order of the
/// records.
inline constexpr std::size_t cache_key_bytes = 8;

inline std::string_view cache_key(std::uint64_t index, std::array<char, cache_key_bytes>& buffer) noexcept {
  for (std::size_t at = cache_key_bytes; at-- != 0; index >>= 8) buffer[at] = static_cast<char>(index & 0xff);
  return {buffer.data(), buffer.size()};
}

/// Returns the record's index that a key stands for. Returns nothing if the key's length is not `cache_key_bytes`.
inline std::optional<std::uint64_t> cache_index(std::string_view key) noexcept {
  if (key.size() != cache_key_bytes) return std::nullopt;
  std::uint64_t index = 0;
  for (const char c : key) index = index << 8 | static_cast<unsigned char>(c);
  return index;
}

}  // namespace penstock::lmdb
