#pragma once

#include <bit>
#include <cstdint>

namespace penstock {

/// Bits of the IEEE binary16 next to a value, ties to even: what `DType::f16` holds. The same on every CPU.
constexpr std::uint16_t to_half(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000u);
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<std::uint16_t>(sign | 0x7e00u);   // not a number
  if (magnitude >= 0x477ff000u) return static_cast<std::uint16_t>(sign | 0x7c00u);  // rounds to 65536 or more
  std::uint32_t whole = 0, rest = 0, half = 0;
  if (magnitude >= 0x38800000u) {
    whole = (magnitude - 0x38000000u) >> 13;
    rest = magnitude & 0x1fffu;
    half = 0x1000u;
  } else if (magnitude >= 0x33000000u) {
    // Below 2^-14 halves are multiples of 2^-24.
    const std::uint32_t shift = 126 - (magnitude >> 23);
    const std::uint32_t mantissa = (magnitude & 0x7fffffu) | 0x800000u;
    whole = mantissa >> shift;
    rest = mantissa & ((1u << shift) - 1);
    half = 1u << (shift - 1);
  }
  if (rest > half || (half != 0 && rest == half && (whole & 1u) != 0)) ++whole;
  return static_cast<std::uint16_t>(sign | whole);
}

}  // namespace penstock
