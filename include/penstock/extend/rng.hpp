// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include <penstock/detail/export.hpp>
#include <penstock/state.hpp>

namespace penstock {

/// Counter-based random numbers (Philox 4x32-10: Salmon et al., SC'11) for one stage at one place. The numbers depend
/// only on seed, stage key and place. Cheap to make and to copy; one thread at a time.
///
/// The member functions return the same values with every compiler and on every CPU. The distributions of the standard
/// library do not.
class PENSTOCK_API Rng {
 public:
  /// Type of the numbers that `()` returns. The standard library requires this name.
  using result_type = std::uint32_t;

  /// Begins the numbers that the stage with key `stage_key` draws at `place`.
  Rng(std::uint64_t seed, std::uint64_t stage_key, const Place& place) noexcept;

  /// The smallest number that `()` returns.
  static constexpr result_type min() { return 0; }
  /// The largest number that `()` returns.
  static constexpr result_type max() { return 0xffffffffu; }
  /// Returns 32 random bits.
  result_type operator()() noexcept {
    if (used_ == 4) refill();
    return words_[used_++];
  }
  /// Returns 64 random bits.
  std::uint64_t u64() noexcept {
    const std::uint64_t low = (*this)();
    return low | std::uint64_t{(*this)()} << 32;
  }
  /// Returns a number that is uniform in [0, 1), with 53 random bits.
  double uniform() noexcept { return static_cast<double>(u64() >> 11) * 0x1p-53; }
  /// Returns a number that is uniform in [low, high). Rounding may give `high` itself.
  double uniform(double low, double high) noexcept { return low + (high - low) * uniform(); }
  /// Returns a number that is uniform in [0, n), without bias (Lemire, 2019). REQUIRES: n > 0.
  std::uint64_t below(std::uint64_t n) noexcept;
  /// Returns true with probability p: never for 0, always for 1. Always draws once.
  bool chance(double p) noexcept { return uniform() < p; }
  /// Whether a number was drawn from this object, or from the object that it is a copy of.
  bool drawn() const noexcept { return drawn_; }

 private:
  void refill() noexcept;

  std::array<std::uint32_t, 2> key_;
  std::array<std::uint32_t, 4> counter_;
  std::array<std::uint32_t, 4> words_{};
  unsigned used_ = 4;
  bool drawn_ = false;
};

}  // namespace penstock
