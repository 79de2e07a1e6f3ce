// SPDX-License-Identifier: Apache-2.0
// Noise as a function of a seed and a place, in whole numbers: the same on every machine.
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

/// The seed of one of the kinds of noise that a drawing needs. Different numbers have nothing in common.
std::uint32_t noise_seed(std::uint64_t seed, std::uint32_t number) noexcept;

/// 32 bits that follow from a seed and a place.
inline std::uint32_t hash_of(std::uint32_t seed, std::int32_t x, std::int32_t y) noexcept {
  std::uint32_t h = seed + static_cast<std::uint32_t>(x) * 0x9e3779b1u + static_cast<std::uint32_t>(y) * 0x85ebca77u;
  h = (h ^ (h >> 15)) * 0x2c1b3c6du;
  h = (h ^ (h >> 12)) * 0x297a2d39u;
  return h ^ (h >> 15);
}

/// Noise at a point of its lattice, -256 to 255.
inline std::int32_t lattice_noise(std::uint32_t seed, std::int32_t x, std::int32_t y) noexcept {
  return static_cast<std::int32_t>(hash_of(seed, x, y) & 511) - 256;
}

/// Noise at any pixel, -256 to 255: points of the lattice stand 2^pitch_bits pixels apart (at most 2^10), and between
/// them lies what is between.
std::int32_t noise_at(std::uint32_t seed, unsigned pitch_bits, std::int32_t x, std::int32_t y) noexcept;

/// A direction of length 16384.
struct Direction {
  std::int32_t x = 16384, y = 0;
};
/// One of the 1024 directions of a circle; larger numbers go around it again.
Direction direction_of(std::uint32_t number) noexcept;

/// Values at the points of a lattice, 2^pitch_bits pixels apart, and between them what lies between. The points are the
/// same for any box, so that a pixel gets the same value whatever box it is drawn with.
class Lattice {
 public:
  /// `value` of a pixel's x and y; it is called for those on the lattice. Values times 4^pitch_bits fit 30 bits.
  template <class Value>
  Lattice(const PixelBox& box, unsigned pitch_bits, Value value) : Lattice(box, pitch_bits) {
    std::size_t at = 0;
    for (std::size_t row = 0; row < rows_; ++row)
      for (std::size_t column = 0; column < columns_; ++column)
        values_[at++] = value((left_ + static_cast<std::int32_t>(column)) << bits_,
                              (top_ + static_cast<std::int32_t>(row)) << bits_);
  }

  /// The box's pixels at this y, valid until the next call.
  const std::int32_t* row(std::int32_t y) noexcept;

 private:
  Lattice(const PixelBox& box, unsigned pitch_bits);

  unsigned bits_;
  std::int32_t left_, top_;
  std::size_t skip_;  ///< of a row, pixels before the box's
  std::size_t columns_, rows_;
  std::vector<std::int32_t> values_, row_;
};

/// Lattice noise of a box.
Lattice noise_of(const PixelBox& box, std::uint32_t seed, unsigned pitch_bits);

}  // namespace make_slides
