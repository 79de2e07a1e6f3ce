// SPDX-License-Identifier: Apache-2.0
// Boxes, points and masks that a decoder turns with its image.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include <penstock/penstock.hpp>
#include <penstock/transforms/image.hpp>

#include "support/catch.hpp"

namespace penstock_test {

// One file, with boxes, points and masks of the stored image, [height, width].
struct Followed {
  std::vector<std::byte> file;
  std::int64_t height, width;
  std::uint64_t size() const { return 1; }
  penstock::Schema schema() const {
    using penstock::DType;
    return {{"image", DType::u8, {penstock::dynamic}},
            {"boxes", DType::f32, {2, 5}},
            {"points", DType::f32, {2, 2}},
            {"masks", DType::u8, {2, penstock::dynamic, penstock::dynamic}}};
  }
  void read(std::uint64_t, penstock::SampleBuilder& out) const {
    out.view(0, file);
    const auto h = static_cast<float>(height), w = static_cast<float>(width);
    const float boxes[] = {1, 2, 8, 5, 1, w - 3, 1.5f, w, h, .5f}, points[] = {.5f, 1, w - 2, h - 4};
    std::memcpy(out.emplace<float, 2>("boxes", {2, 5}).data(), boxes, sizeof boxes);
    std::memcpy(out.emplace<float, 2>("points", {2, 2}).data(), points, sizeof points);
    const auto masks = out.emplace<std::uint8_t, 3>("masks", {2, height, width});
    for (std::int64_t i = 0; i < height * width; ++i)
      masks.data()[i] = static_cast<std::uint8_t>(i % 251),
      masks.data()[height * width + i] = static_cast<std::uint8_t>(i % 7);
  }
};

// Compares the fields after `upright`, which sets the image upright, with those after `stored`, which does not, and the
// stages that Exif's standard describes in words.
inline void check_followers(const Followed& file, const penstock::Stage& stored, const penstock::Stage& upright,
                            int orientation) {
  using namespace penstock;
  const ImageFields all{"image", boxes("boxes"), points("points"), instance_masks("masks")};
  const Pipeline plain = from(file) | stored, counter_clockwise = plain | rot90(all, 1);
  const Pipeline expected = orientation == 2   ? plain | flip_horizontal(all)
                            : orientation == 3 ? plain | rot90(all, 2)
                            : orientation == 4 ? plain | flip_vertical(all)
                            : orientation == 5 ? counter_clockwise | flip_vertical(all)
                            : orientation == 6 ? plain | rot90(all, 3)
                            : orientation == 7 ? counter_clockwise | flip_horizontal(all)
                            : orientation == 8 ? counter_clockwise
                                               : plain;
  const OwnedSample a = (from(file) | upright).at(0), b = expected.at(0);
  for (const char* field : {"image", "boxes", "points", "masks"}) {
    CAPTURE(orientation, field);
    const TensorView got = a[field], wanted = b[field];
    REQUIRE(got.shape == wanted.shape);
    CHECK(std::memcmp(got.data, wanted.data, got.bytes()) == 0);
  }
}

}  // namespace penstock_test
