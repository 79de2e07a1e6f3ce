// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace penstock::slide {

/// Reads up to 8 bytes of a file as one whole number.
inline std::uint64_t number_of(std::span<const std::byte> bytes, bool big_endian) noexcept {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    number = number << 8 | std::to_integer<std::uint64_t>(bytes[big_endian ? i : bytes.size() - 1 - i]);
  return number;
}

}  // namespace penstock::slide
