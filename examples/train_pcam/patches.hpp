// SPDX-License-Identifier: Apache-2.0
// Makes up patches with the shapes of PatchCamelyon: u8 [96, 96, 3] of stained tissue, and u8 [1, 1, 1], which says
// whether the centre has a tumour. Nuclei are dark discs on a pink ground. In the centre of a tumour they are larger
// and denser. The same seed gives the same patches.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

#include <penstock/penstock.hpp>

class Patches {
 public:
  static constexpr std::int64_t side = 96, centre = 32;

  Patches(std::uint64_t count, std::uint64_t seed) : count_(count), seed_(seed) {}
  std::uint64_t size() const { return count_; }
  penstock::Schema schema() const {
    return {{"x", penstock::DType::u8, {side, side, 3}}, {"y", penstock::DType::u8, {1, 1, 1}}};
  }
  std::string name() const { return "patches"; }

  void read(std::uint64_t index, penstock::SampleBuilder& out) const {
    penstock::Rng rng(seed_, 0, {.position = index});
    const bool tumour = rng.chance(0.5);
    out.emplace<std::uint8_t, 3>("y", {1, 1, 1})(0, 0, 0) = tumour ? 1 : 0;
    auto x = out.emplace<std::uint8_t, 3>("x", {side, side, 3});
    const std::array<double, 3> ground{rng.uniform(215, 240), rng.uniform(170, 200), rng.uniform(205, 230)};
    for (std::int64_t row = 0; row < side; ++row)
      for (std::int64_t column = 0; column < side; ++column)
        for (std::size_t c = 0; c < 3; ++c)
          x(row, column, static_cast<std::int64_t>(c)) = byte(ground[c] + rng.uniform(-12, 12));
    constexpr double middle = side / 2.0, half = centre / 2.0;
    for (int n = 0; n < 45; ++n) nucleus(x, rng, rng.uniform(0, side), rng.uniform(0, side), rng.uniform(1.5, 3));
    const int dense = tumour ? 9 : 4;
    for (int n = 0; n < dense; ++n)
      nucleus(x, rng, middle + rng.uniform(-half, half), middle + rng.uniform(-half, half),
              tumour ? rng.uniform(2, 3.5) : rng.uniform(1.5, 3));
  }

 private:
  static std::uint8_t byte(double value) { return static_cast<std::uint8_t>(std::clamp(value, 0.0, 255.0)); }
  static void nucleus(penstock::View<std::uint8_t, 3>& x, penstock::Rng& rng, double row, double column,
                      double radius) {
    const std::array<double, 3> colour{rng.uniform(80, 120), rng.uniform(50, 90), rng.uniform(120, 160)};
    const auto first = [radius](double at) {
      return std::max<std::int64_t>(0, static_cast<std::int64_t>(at - radius));
    };
    const auto last = [radius](double at) {
      return std::min<std::int64_t>(side - 1, static_cast<std::int64_t>(at + radius));
    };
    for (std::int64_t r = first(row); r <= last(row); ++r)
      for (std::int64_t k = first(column); k <= last(column); ++k) {
        const double dr = static_cast<double>(r) - row, dk = static_cast<double>(k) - column;
        if (dr * dr + dk * dk > radius * radius) continue;
        for (std::size_t c = 0; c < 3; ++c)
          x(r, k, static_cast<std::int64_t>(c)) = byte(colour[c] + rng.uniform(-8, 8));
      }
  }

  std::uint64_t count_, seed_;
};
