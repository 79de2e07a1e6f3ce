// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>

namespace penstock {

/// Returns the bits of the IEEE binary16 (`DType::f16`) nearest to a float; ties go to even. Every CPU returns the same
/// bits.
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
    // Values of binary16 below 2^-14 are multiples of 2^-24.
    const std::uint32_t shift = 126 - (magnitude >> 23);
    const std::uint32_t mantissa = (magnitude & 0x7fffffu) | 0x800000u;
    whole = mantissa >> shift;
    rest = mantissa & ((1u << shift) - 1);
    half = 1u << (shift - 1);
  }
  if (rest > half || (half != 0 && rest == half && (whole & 1u) != 0)) ++whole;
  return static_cast<std::uint16_t>(sign | whole);
}

/// Returns the bits of the IEEE binary16 nearest to a double, rounded once; ties go to even.
constexpr std::uint16_t to_half(double value) noexcept {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const std::uint64_t magnitude = bits & 0x7fffffffffffffffu;
  const auto sign = static_cast<std::uint32_t>(bits >> 32 & 0x80000000u);
  if (magnitude >= 0x40f0000000000000u || magnitude < 0x3e50000000000000u) {  // 65536 or more, or below 2^-26
    const std::uint32_t far = magnitude > 0x7ff0000000000000u    ? 0x7fc00000u
                              : magnitude >= 0x40f0000000000000u ? 0x7f800000u
                                                                 : 0u;
    return to_half(std::bit_cast<float>(sign | far));
  }
  // First rounds to odd: a value between two floats becomes the one whose last bit is 1. The significand
  // of a float has more than twice the bits of a binary16's (24 and 11), so the second rounding is then correct.
  const auto exponent = static_cast<std::uint32_t>(magnitude >> 52) - (1023u - 127u);
  const auto mantissa = static_cast<std::uint32_t>(magnitude >> 29 & 0x7fffffu);
  const std::uint32_t rest = (magnitude & 0x1fffffffu) != 0 ? 1u : 0u;
  return to_half(std::bit_cast<float>(sign | exponent << 23 | mantissa | rest));
}

/// Returns the exact value of an IEEE binary16.
constexpr float from_half(std::uint16_t half) noexcept {
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000u) << 16;
  const std::uint32_t exponent = half >> 10 & 0x1fu, mantissa = half & 0x3ffu;
  if (exponent == 0x1f) return std::bit_cast<float>(sign | 0x7f800000u | mantissa << 13);
  if (exponent != 0) return std::bit_cast<float>(sign | (exponent + 112) << 23 | mantissa << 13);
  const float tiny = static_cast<float>(mantissa) * 0x1p-24f;
  return sign != 0 ? -tiny : tiny;
}

}  // namespace penstock
