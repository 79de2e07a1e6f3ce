// SPDX-License-Identifier: Apache-2.0
#include "order/bijection.hpp"

#include <bit>
#include <utility>

#include <penstock/extend/rng.hpp>

namespace penstock::detail {

namespace {

// Mixes a value with a round key, like the finaliser of MurmurHash3. Every output bit depends on every input bit.
inline std::uint64_t mix(std::uint64_t value, std::uint64_t key) noexcept {
  std::uint64_t x = (value + key) * 0xff51afd7ed558ccdull;
  x ^= x >> 32;
  x *= 0xc4ceb9fe1a85ec53ull;
  return x ^ (x >> 29);
}

}  // namespace

Bijection::Bijection(std::uint64_t n, std::uint64_t key) noexcept : n_(n), keys_{} {
  Rng rng(key, 0x62696a656374696f, Place{});
  if (n <= table_limit) {
    table_ = {};
    for (std::uint64_t i = 0; i < n; ++i) table_[i] = static_cast<std::uint8_t>(i);
    for (std::uint64_t i = n; i > 1; --i) std::swap(table_[i - 1], table_[rng.below(i)]);
    return;
  }
  const auto bits = static_cast<unsigned>(std::bit_width(n - 1));
  low_bits_ = bits / 2;
  low_mask_ = (std::uint64_t{1} << low_bits_) - 1;
  high_mask_ = (std::uint64_t{1} << (bits - low_bits_)) - 1;
  for (auto& k : keys_) k = rng.u64();
}

std::uint64_t Bijection::encrypt(std::uint64_t i) const noexcept {
  std::uint64_t low = i & low_mask_, high = i >> low_bits_;
  for (unsigned r = 0; r < rounds; r += 2) {
    high ^= mix(low, keys_[r]) & high_mask_;
    low ^= mix(high, keys_[r + 1]) & low_mask_;
  }
  return high << low_bits_ | low;
}

}  // namespace penstock::detail
