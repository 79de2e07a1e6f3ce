// SPDX-License-Identifier: Apache-2.0
#include "tissue_noise.hpp"

namespace make_slides {

namespace {

constexpr std::uint32_t directions = 1024;

// Makes the directions by turning one direction again and again. Products give the same bits on every machine, but the
// library's sine does not.
std::array<Direction, directions> make_directions() noexcept {
  constexpr double cosine = 0.9999811752826011, sine = 0.006135884649154475;
  std::array<Direction, directions> all{};
  double x = 16384, y = 0;
  for (Direction& d : all) {
    d = {static_cast<std::int32_t>(x + (x < 0 ? -0.5 : 0.5)), static_cast<std::int32_t>(y + (y < 0 ? -0.5 : 0.5))};
    const double turned = x * cosine - y * sine;
    y = x * sine + y * cosine;
    x = turned;
  }
  return all;
}

}  // namespace

std::uint32_t noise_seed(std::uint64_t seed, std::uint32_t number) noexcept {
  std::uint64_t h = seed + 0x9e3779b97f4a7c15u * (std::uint64_t{number} + 1);
  h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9u;
  h = (h ^ (h >> 27)) * 0x94d049bb133111ebu;
  return static_cast<std::uint32_t>((h ^ (h >> 31)) >> 16);
}

std::int32_t noise_at(std::uint32_t seed, unsigned pitch_bits, std::int32_t x, std::int32_t y) noexcept {
  const std::int32_t pitch = 1 << pitch_bits, fx = x & (pitch - 1), fy = y & (pitch - 1);
  const std::int32_t cx = x >> pitch_bits, cy = y >> pitch_bits;
  const std::int32_t left = lattice_noise(seed, cx, cy) * (pitch - fy) + lattice_noise(seed, cx, cy + 1) * fy;
  const std::int32_t right = lattice_noise(seed, cx + 1, cy) * (pitch - fy) + lattice_noise(seed, cx + 1, cy + 1) * fy;
  return (left * (pitch - fx) + right * fx) >> (2 * pitch_bits);
}

Direction direction_of(std::uint32_t number) noexcept {
  static const std::array<Direction, directions> all = make_directions();
  return all[number % directions];
}

Lattice::Lattice(const PixelBox& box, unsigned pitch_bits)
    : bits_(pitch_bits),
      left_(box.x >> pitch_bits),
      top_(box.y >> pitch_bits),
      skip_(static_cast<std::size_t>(box.x - (left_ << pitch_bits))),
      columns_(static_cast<std::size_t>(((box.x + box.width - 1) >> pitch_bits) - left_) + 2),
      rows_(static_cast<std::size_t>(((box.y + box.height - 1) >> pitch_bits) - top_) + 2),
      values_(columns_ * rows_),
      row_((columns_ - 1) << pitch_bits) {}

const std::int32_t* Lattice::row(std::int32_t y) noexcept {
  const std::int32_t pitch = 1 << bits_, down = y & (pitch - 1);
  const std::int32_t* const above = values_.data() + static_cast<std::size_t>((y >> bits_) - top_) * columns_;
  const std::int32_t* const below = above + columns_;
  const unsigned shift = 2 * bits_;
  std::int32_t* out = row_.data();
  std::int32_t left = above[0] * (pitch - down) + below[0] * down;
  for (std::size_t column = 1; column < columns_; ++column, out += pitch) {
    const std::int32_t right = above[column] * (pitch - down) + below[column] * down, step = right - left;
    const std::int32_t first = left * pitch;
    for (std::int32_t i = 0; i < pitch; ++i) out[i] = (first + i * step) >> shift;
    left = right;
  }
  return row_.data() + skip_;
}

Lattice noise_of(const PixelBox& box, std::uint32_t seed, unsigned pitch_bits) {
  return {box, pitch_bits,
          [=](std::int32_t x, std::int32_t y) { return lattice_noise(seed, x >> pitch_bits, y >> pitch_bits); }};
}

}  // namespace make_slides
