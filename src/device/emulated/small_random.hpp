// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace penstock::detail {

/// Random numbers for an emulated device's timing (SplitMix64: Steele, Lea, Flood 2014). No result depends on them.
class SmallRandom {
 public:
  explicit SmallRandom(std::uint64_t seed) noexcept : state_(seed) {}
  /// Returns a number below `n`. REQUIRES: `n` is not 0.
  std::size_t below(std::size_t n) noexcept {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return static_cast<std::size_t>((z ^ z >> 31) % n);
  }

 private:
  std::uint64_t state_;
};

}  // namespace penstock::detail
