// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string_view>
#include <type_traits>

/// Fast parsing of numbers that have at most eight characters besides a sign, as most numbers do. Nine bytes from a
/// cell's beginning on must be readable, even if the cell is shorter.
namespace penstock::common {

inline constexpr std::size_t max_short_bytes = 8;

// The functions work on eight digits together, in a word whose lowest byte is the first digit.
static_assert(std::endian::native == std::endian::little, "the first character is in a word's lowest byte");

inline constexpr std::uint64_t top_bits = 0x8080808080808080;

/// Returns a word with `byte` in each of its bytes.
constexpr std::uint64_t in_each_byte(char byte) noexcept {
  return 0x0101010101010101 * static_cast<std::uint8_t>(byte);
}

/// Loads eight characters into a word. Each digit becomes its value.
inline std::uint64_t load_digits(const char* at) noexcept {
  std::uint64_t word = 0;
  std::memcpy(&word, at, sizeof word);
  return word ^ in_each_byte('0');
}

/// Returns a word with the top bit set in each byte that is not a digit's value, 0 to 9.
constexpr std::uint64_t not_digits(std::uint64_t values) noexcept {
  return (((values & ~top_bits) + in_each_byte(0x7f - 9)) | values) & top_bits;
}

/// Returns a word with the top bit set in each byte that is zero.
constexpr std::uint64_t zero_bytes(std::uint64_t word) noexcept {
  return ~(((word & ~top_bits) + ~top_bits) | word) & top_bits;
}

/// Returns the number that eight digits form, from the digits' values. Combines pairs, then fours, then all eight.
constexpr std::uint32_t number_of(std::uint64_t values) noexcept {
  constexpr std::uint64_t every_other_pair = 0x000000ff000000ff;
  const std::uint64_t pairs = values * 10 + (values >> 8);
  const std::uint64_t first = (pairs & every_other_pair) * (100 + (std::uint64_t{1'000'000} << 32));
  const std::uint64_t second = (pairs >> 16 & every_other_pair) * (1 + (std::uint64_t{10'000} << 32));
  return static_cast<std::uint32_t>((first + second) >> 32);
}

/// Every float type holds these powers exactly, so a division by one of them rounds once.
template <std::floating_point T>
inline constexpr T powers_of_ten[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7};

/// Writes the number of a short cell that has only digits, perhaps a '-' before them and, for floats, perhaps a point.
/// Returns false, and leaves `out` as it is, for all other cells. Does the same if the digits, read without the point,
/// form a number that T may not hold exactly.
template <std::floating_point T>
[[gnu::always_inline]] inline bool parse_short(std::string_view cell, T& out) noexcept {
  const std::size_t sign = *cell.data() == '-' ? 1 : 0;
  const std::size_t bytes = cell.size() - sign;
  if (bytes - 1 >= max_short_bytes) return false;
  // The last character becomes the highest byte. The bytes below the first character become zeros, like leading zeros
  // of the number.
  const std::uint64_t text = load_digits(cell.data() + sign) << (64 - 8 * bytes);
  const std::uint64_t point = zero_bytes(text ^ in_each_byte('.' ^ '0'));
  // Moves the digits before the point up by a byte, over the point. The decimals stay. Without a point, no digit moves.
  const unsigned decimal_bits = static_cast<unsigned>(std::countl_zero(point));
  const std::uint64_t below = ~std::uint64_t{0} >> (decimal_bits / 2) >> (decimal_bits / 2);
  const std::uint64_t values = (text & ~below) | ((text << 8) & below);
  if (not_digits(values) != 0 || (point != 0 && bytes == 1)) return false;
  // With a point, the number has at most seven digits, which every float type holds. Without a point, it may have
  // eight.
  const auto digits = static_cast<std::int32_t>(number_of(values));
  if constexpr (std::numeric_limits<T>::digits < 27) {
    if (digits > std::int32_t{1} << std::numeric_limits<T>::digits) return false;  // T may have to round `digits`
  }
  const T number = static_cast<T>(digits) / powers_of_ten<T>[decimal_bits / 8 % 8];
  using Bits = std::conditional_t<sizeof(T) == sizeof(std::uint32_t), std::uint32_t, std::uint64_t>;
  constexpr unsigned sign_bit = 8 * sizeof(T) - 1;
  const Bits negative = static_cast<Bits>(sign) << sign_bit;  // no branch: signs are random
  out = std::bit_cast<T>(std::bit_cast<Bits>(number) | negative);
  return true;
}

template <std::integral T>
[[gnu::always_inline]] inline bool parse_short(std::string_view cell, T& out) noexcept {
  const std::size_t sign = *cell.data() == '-' ? 1 : 0;
  if (sign != 0 && !std::is_signed_v<T>) return false;
  const std::size_t bytes = cell.size() - sign;
  if (bytes - 1 >= max_short_bytes) return false;
  const std::uint64_t values = load_digits(cell.data() + sign) << (64 - 8 * bytes);
  if (not_digits(values) != 0) return false;
  const auto number = static_cast<std::int32_t>(number_of(values));
  const std::int32_t value = sign != 0 ? -number : number;
  if constexpr (sizeof(T) < sizeof value) {
    if (value < std::numeric_limits<T>::min() || value > std::numeric_limits<T>::max()) return false;
  }
  out = static_cast<T>(value);
  return true;
}

[[gnu::always_inline]] inline bool parse_short(std::string_view cell, bool& out) noexcept {
  if (cell.size() != 1 || (cell[0] != '0' && cell[0] != '1')) return false;
  out = cell[0] == '1';
  return true;
}

}  // namespace penstock::common
