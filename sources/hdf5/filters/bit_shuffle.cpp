// SPDX-License-Identifier: Apache-2.0
#include "filters/bit_shuffle.hpp"

#include <bit>
#include <cstdint>
#include <cstring>

namespace penstock::hdf5 {

namespace {

// Returns `x` transposed: bit j of byte i becomes bit i of byte j.
std::uint64_t transposed(std::uint64_t x) noexcept {
  std::uint64_t t = (x ^ (x >> 7)) & 0x00aa00aa00aa00aa;
  x = x ^ t ^ (t << 7);
  t = (x ^ (x >> 14)) & 0x0000cccc0000cccc;
  x = x ^ t ^ (t << 14);
  t = (x ^ (x >> 28)) & 0x00000000f0f0f0f0;
  return x ^ t ^ (t << 28);
}

}  // namespace

void unshuffle_bits(std::span<const std::byte> in, std::span<std::byte> out, std::size_t element) noexcept {
  static_assert(std::endian::native == std::endian::little, "byte i of a number is its i-th lowest");
  const std::size_t row = in.size() / element / 8;  // bytes that hold one bit of every element
  for (std::size_t e = 0; e < element; ++e) {
    const std::byte* const rows = in.data() + e * 8 * row;
    for (std::size_t k = 0; k < row; ++k) {
      std::uint64_t bits = 0;
      for (std::size_t b = 0; b < 8; ++b) bits |= std::to_integer<std::uint64_t>(rows[b * row + k]) << 8 * b;
      bits = transposed(bits);
      for (std::size_t i = 0; i < 8; ++i) out[(8 * k + i) * element + e] = static_cast<std::byte>(bits >> 8 * i);
    }
  }
}

}  // namespace penstock::hdf5
