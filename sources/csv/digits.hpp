#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

/// Eight digits of a text at once, the first one in the lowest byte.
namespace penstock::csv {

static_assert(std::endian::native == std::endian::little, "the first character is in a word's lowest byte");

inline constexpr std::uint64_t top_bits = 0x8080808080808080;

/// `byte` in each of a word's bytes.
constexpr std::uint64_t in_each_byte(char byte) noexcept {
  return 0x0101010101010101 * static_cast<std::uint8_t>(byte);
}

/// Eight characters; each that is a digit is made its value.
inline std::uint64_t load_digits(const char* at) noexcept {
  std::uint64_t word = 0;
  std::memcpy(&word, at, sizeof word);
  return word ^ in_each_byte('0');
}

/// The top bit of each byte that is no digit's value.
constexpr std::uint64_t not_digits(std::uint64_t values) noexcept {
  return (((values & ~top_bits) + in_each_byte(0x7f - 9)) | values) & top_bits;
}

/// The top bit of each byte that is zero.
constexpr std::uint64_t zero_bytes(std::uint64_t word) noexcept {
  return ~(((word & ~top_bits) + ~top_bits) | word) & top_bits;
}

/// The number that eight digits' values say. Pairs, then fours, then all.
constexpr std::uint32_t number_of(std::uint64_t values) noexcept {
  constexpr std::uint64_t every_other_pair = 0x000000ff000000ff;
  const std::uint64_t pairs = values * 10 + (values >> 8);
  const std::uint64_t first = (pairs & every_other_pair) * (100 + (std::uint64_t{1'000'000} << 32));
  const std::uint64_t second = (pairs >> 16 & every_other_pair) * (1 + (std::uint64_t{10'000} << 32));
  return static_cast<std::uint32_t>((first + second) >> 32);
}

}  // namespace penstock::csv
