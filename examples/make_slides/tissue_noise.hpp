// SPDX-License-Identifier: Apache-2.0
// Noise that depends only on a seed and a position. It is computed in whole numbers, so it is the same on every
// machine.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace make_slides {

/// A box of pixels of a drawing.
struct PixelBox {
  std::int32_t x = 0, y = 0, width = 0, height = 0;
};

/// Returns the seed of one of the kinds of noise that a drawing needs. `number`: the kind. Different kinds have
/// unrelated noise.
std::uint32_t noise_seed(std::uint64_t seed, std::uint32_t number) noexcept;

/// Returns 32 bits that depend on a seed and a position.
inline std::uint32_t hash_of(std::uint32_t seed, std::int32_t x, std::int32_t y) noexcept {
  std::uint32_t h = seed + static_cast<std::uint32_t>(x) * 0x9e3779b1u + static_cast<std::uint32_t>(y) * 0x85ebca77u;
  h = (h ^ (h >> 15)) * 0x2c1b3c6du;
  h = (h ^ (h >> 12)) * 0x297a2d39u;
  return h ^ (h >> 15);
}

/// Returns the noise at a point of the lattice, from -256 to 255.
inline std::int32_t lattice_noise(std::uint32_t seed, std::int32_t x, std::int32_t y) noexcept {
  return static_cast<std::int32_t>(hash_of(seed, x, y) & 511) - 256;
}

/// Returns the noise at any pixel, from -256 to 255. The points of the lattice are 2^pitch_bits pixels apart (at most
/// 2^10). Between points, values are interpolated.
std::int32_t noise_at(std::uint32_t seed, unsigned pitch_bits, std::int32_t x, std::int32_t y) noexcept;

/// A direction of length 16384.
struct Direction {
  std::int32_t x = 16384, y = 0;
};
/// Returns one of the 1024 directions of a circle. Larger numbers go round again.
Direction direction_of(std::uint32_t number) noexcept;

/// Values at the points of a lattice, 2^pitch_bits pixels apart, and interpolated values between points. The points are
/// the same for all boxes, so a pixel has the same value in every box.
class Lattice {
 public:
  /// Calls value(x, y) for each point of the lattice. REQUIRES: a value times 4^pitch_bits fits 30 bits.
  template <class Value>
  Lattice(const PixelBox& box, unsigned pitch_bits, Value value) : Lattice(box, pitch_bits) {
    std::size_t at = 0;
    for (std::size_t row = 0; row < rows_; ++row)
      for (std::size_t column = 0; column < columns_; ++column)
        values_[at++] = value((left_ + static_cast<std::int32_t>(column)) << bits_,
                              (top_ + static_cast<std::int32_t>(row)) << bits_);
  }

  /// Returns the values of the box's pixels in row y. They are valid until the next call.
  const std::int32_t* row(std::int32_t y) noexcept;

 private:
  Lattice(const PixelBox& box, unsigned pitch_bits);

  unsigned bits_;
  std::int32_t left_, top_;
  std::size_t skip_;  ///< pixels of a row before the box begins
  std::size_t columns_, rows_;
  std::vector<std::int32_t> values_, row_;
};

/// Returns the lattice noise of a box.
Lattice noise_of(const PixelBox& box, std::uint32_t seed, unsigned pitch_bits);

}  // namespace make_slides
