// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>

namespace penstock {

/// Returns the bits of the bfloat16 (`DType::bf16`) nearest to a float; ties go to even. Values that are too large
/// become infinite. Every CPU returns the same bits.
constexpr std::uint16_t to_bfloat16(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u)  // not a number
    return static_cast<std::uint16_t>((bits >> 16 & 0x8000u) | 0x7fc0u);
  return static_cast<std::uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

/// Returns the bits of the bfloat16 nearest to a double, rounded once; ties go to even.
constexpr std::uint16_t to_bfloat16(double value) noexcept {
  const auto nearest = static_cast<float>(value);
  if (!(static_cast<double>(nearest) < value || static_cast<double>(nearest) > value)) return to_bfloat16(nearest);
  // First rounds to odd: a value between two floats becomes the one whose last bit is 1. The significand
  // of a float has more than twice the bits of a bfloat16's (24 and 8), so the second rounding is then correct.
  auto bits = std::bit_cast<std::uint32_t>(nearest);
  const bool away_from_zero = value < 0 ? static_cast<double>(nearest) < value : static_cast<double>(nearest) > value;
  if (away_from_zero) --bits;
  return to_bfloat16(std::bit_cast<float>(bits | 1u));
}

/// Returns the exact value of a bfloat16.
constexpr float from_bfloat16(std::uint16_t bits) noexcept {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

}  // namespace penstock
