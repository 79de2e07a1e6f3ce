// SPDX-License-Identifier: Apache-2.0
// A source of pictures of shapes, which are drawn when they are read. So any number of processes can use it without a
// file.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include <penstock/penstock.hpp>

// Fields: image, u8[16, 16], and label, i64[]. Record i is one of four shapes, whose position and size follow from i.
struct Shapes {
  static constexpr std::int64_t side = 16;
  static constexpr std::uint64_t classes = 4;
  std::uint64_t count = 0;

  std::uint64_t size() const { return count; }
  std::string name() const { return "shapes"; }
  penstock::Schema schema() const {
    return {{"image", penstock::DType::u8, {side, side}}, {"label", penstock::DType::i64, {}}};
  }
  void read(std::uint64_t i, penstock::SampleBuilder& out) const {
    penstock::Rng numbers(0, 0x736861706573, {.position = i});
    const auto label = numbers.below(classes);
    const double size = numbers.uniform(3, 6);
    const double y0 = numbers.uniform(6, 10), x0 = numbers.uniform(6, 10);
    auto image = out.emplace<std::uint8_t, 2>("image", {side, side});
    for (std::int64_t y = 0; y < side; ++y)
      for (std::int64_t x = 0; x < side; ++x) {
        const double dy = std::abs(static_cast<double>(y) - y0), dx = std::abs(static_cast<double>(x) - x0);
        const bool inside = label == 0   ? dy * dy + dx * dx < size * size                         // disc
                            : label == 1 ? std::abs(dy * dy + dx * dx - size * size) < 2.5 * size  // ring
                            : label == 2 ? std::max(dy, dx) < size && std::min(dy, dx) < 1.5       // cross
                                         : std::max(dy, dx) < size && std::abs(dy - dx) < 1.5;     // diagonals
        image(y, x) = static_cast<std::uint8_t>((inside ? 140 : 40) + numbers.below(60));
      }
    out.scalar<std::int64_t>("label", static_cast<std::int64_t>(label));
  }
};

// A transform that changes the brightness. It draws again for each sample in each epoch. The draw does not depend on
// the rank that makes the sample.
struct Brightness {
  penstock::Schema schema(const penstock::Schema& in) const { return in; }
  std::string name() const { return "brightness"; }
  void operator()(penstock::Sample& sample, penstock::Context& context) const {
    const double gain = context.rng().uniform(0.8, 1.2);
    for (std::uint8_t& v : sample.view<std::uint8_t, 2>("image"))
      v = static_cast<std::uint8_t>(std::min(255.0, gain * v + 0.5));
  }
};
