#pragma once

#include <array>
#include <cstdint>

#include <penstock/detail/export.hpp>
#include <penstock/state.hpp>

namespace penstock {

/// Counter-based random numbers (Philox 4x32-10: Salmon et al., SC'11) for one stage at one place. The numbers follow
/// from (seed, stage key, place) alone. Cheap to make and to copy; one thread at a time.
///
/// The members below give the same values with every compiler and on every CPU; the distributions of the standard
/// library do not.
class PENSTOCK_API Rng {
 public:
  /// Type of the numbers that `()` gives, under the name that the standard library asks for.
  using result_type = std::uint32_t;

  /// The numbers of the stage with that key, at that place.
  Rng(std::uint64_t seed, std::uint64_t stage_key, const Place& place) noexcept;

  /// The least number that `()` gives.
  static constexpr result_type min() { return 0; }
  /// The greatest number that `()` gives.
  static constexpr result_type max() { return 0xffffffffu; }
  /// 32 random bits.
  result_type operator()() noexcept {
    if (used_ == 4) refill();
    return words_[used_++];
  }
  /// 64 random bits.
  std::uint64_t u64() noexcept {
    const std::uint64_t low = (*this)();
    return low | std::uint64_t{(*this)()} << 32;
  }
  /// Uniform in [0, 1), 53 random bits.
  double uniform() noexcept { return static_cast<double>(u64() >> 11) * 0x1p-53; }
  /// Uniform in [low, high).
  double uniform(double low, double high) noexcept { return low + (high - low) * uniform(); }
  /// Uniform in [0, n), without bias (Lemire, 2019). n > 0.
  std::uint64_t below(std::uint64_t n) noexcept;
  /// True with probability p; exactly never for 0 and always for 1. Draws once in any case.
  bool chance(double p) noexcept { return uniform() < p; }
  /// Whether any number was drawn.
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
