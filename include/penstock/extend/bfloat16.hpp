#pragma once

#include <bit>
#include <cstdint>

namespace penstock {

/// Bits of the bfloat16 next to a value, ties to even: what `DType::bf16` holds. What is too large becomes infinite.
/// Every CPU gives the same bits.
constexpr std::uint16_t to_bfloat16(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u)  // not a number
    return static_cast<std::uint16_t>((bits >> 16 & 0x8000u) | 0x7fc0u);
  return static_cast<std::uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

/// Bits of the bfloat16 next to a double, rounded once, ties to even.
constexpr std::uint16_t to_bfloat16(double value) noexcept {
  const auto nearest = static_cast<float>(value);
  if (!(static_cast<double>(nearest) < value || static_cast<double>(nearest) > value)) return to_bfloat16(nearest);
  // Rounded to odd: a float has so many more digits than a bfloat16 that the second rounding is the right one.
  auto bits = std::bit_cast<std::uint32_t>(nearest);
  const bool away_from_zero = value < 0 ? static_cast<double>(nearest) < value : static_cast<double>(nearest) > value;
  if (away_from_zero) --bits;
  return to_bfloat16(std::bit_cast<float>(bits | 1u));
}

/// The value of a bfloat16, exactly.
constexpr float from_bfloat16(std::uint16_t bits) noexcept {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

}  // namespace penstock
