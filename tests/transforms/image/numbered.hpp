// SPDX-License-Identifier: Apache-2.0
// Images in which every pixel is its own number, with boxes, points and masks.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include <penstock/penstock.hpp>

#include "support/catch.hpp"

namespace penstock_test {

using namespace penstock;

inline constexpr std::int32_t high = 67, wide = 91;

// Images of 16 bits whose pixels are numbered from 1 on, with points, boxes and masks; sometimes none. One point and
// one box are single pixels, and masks are their boxes.
struct Numbered {
  std::uint64_t size() const { return 48; }
  Schema schema() const {
    return {{"image", DType::u16, {dynamic, dynamic, 1}},
            {"points", DType::f32, {dynamic, 3}},
            {"boxes", DType::f32, {dynamic, 5}},
            {"masks", DType::u8, {dynamic, dynamic, dynamic}}};
  }
  void read(std::uint64_t i, SampleBuilder& out) const {
    const auto image = out.emplace<std::uint16_t, 3>("image", {high, wide, 1});
    for (std::int32_t y = 0; y < high; ++y)
      for (std::int32_t x = 0; x < wide; ++x) image(y, x, 0) = static_cast<std::uint16_t>(1 + y * wide + x);
    const auto n = static_cast<std::int64_t>(i % 5);
    const auto points = out.emplace<float, 2>("points", {n, 3});
    const auto boxes = out.emplace<float, 2>("boxes", {n, 5});
    const auto masks = out.emplace<std::uint8_t, 3>("masks", {n, high, wide});
    std::fill_n(masks.data(), masks.size(), std::uint8_t{0});
    Rng rng(9, 9, {0, i});
    for (std::int64_t k = 0; k < n; ++k) {
      const auto below = [&](std::int32_t most) {
        return static_cast<std::int32_t>(rng.below(static_cast<std::uint64_t>(most)));
      };
      points(k, 0) = static_cast<float>(below(wide)) + 0.5f, points(k, 1) = static_cast<float>(below(high)) + 0.5f;
      points(k, 2) = static_cast<float>(1 + below(2));
      const std::int32_t x = below(wide), y = below(high);
      const std::int32_t w = k == 0 ? 1 : 1 + below(wide - x), h = k == 0 ? 1 : 1 + below(high - y);
      const std::int32_t box[] = {x, y, x + w, y + h, 1};
      for (std::int64_t c = 0; c < 5; ++c) boxes(k, c) = static_cast<float>(box[c]);
      for (std::int32_t row = y; row < y + h; ++row)
        for (std::int32_t column = x; column < x + w; ++column) masks(k, row, column) = 1;
    }
  }
};

inline float number(const OwnedSample& sample, const char* field, std::int64_t row, std::int64_t column) {
  const TensorView t = sample[field];
  float value = 0;
  std::memcpy(&value, t.data + (row * t.shape[1] + column) * 4, 4);
  return value;
}

// Where pixels of the original image are in the result.
struct Pixels2 {
  explicit Pixels2(const OwnedSample& sample) : image(sample["image"]), masks(sample["masks"]) {}
  std::int64_t height() const { return image.shape[0]; }
  std::int64_t width() const { return image.shape[1]; }
  // The number of the original pixel; -1: padding.
  std::int32_t at(std::int64_t y, std::int64_t x) const {
    std::uint16_t value = 0;
    std::memcpy(&value, image.data + 2 * (y * width() + x), 2);
    return static_cast<std::int32_t>(value) - 1;
  }
  int mask(std::int64_t k, std::int64_t y, std::int64_t x) const {
    return std::to_integer<int>(masks.data[(k * height() + y) * width() + x]);
  }
  TensorView image, masks;
};

// Compares a sample with the original one, pixel by pixel. `scale`: pixels of the result per pixel of the original in
// each direction; 0: no whole number. `resizes`: each may move what a pixel shows by a pixel.
inline void check_sample(const OwnedSample& before, const OwnedSample& after, std::int64_t scale, int resizes) {
  const Pixels2 pixels(after);
  const std::int64_t n = before["boxes"].shape[0];
  REQUIRE(after["boxes"].shape == before["boxes"].shape);
  REQUIRE(after["points"].shape == before["points"].shape);
  REQUIRE(after["masks"].shape == Shape({n, pixels.height(), pixels.width()}));
  for (std::int64_t k = 0; k < n; ++k) {
    const auto in = [&](std::int64_t column) { return number(before, "boxes", k, column); };
    const auto out = [&](std::int64_t column) { return number(after, "boxes", k, column); };
    std::int64_t left = 1 << 20, top = 1 << 20, right = -1, bottom = -1, count = 0, wrong = 0;
    for (std::int64_t y = 0; y < pixels.height(); ++y)
      for (std::int64_t x = 0; x < pixels.width(); ++x) {
        const std::int32_t pixel = pixels.at(y, x);
        const float px = static_cast<float>(pixel % wide), py = static_cast<float>(pixel / wide);
        const bool inside = pixel >= 0 && px >= in(0) && px < in(2) && py >= in(1) && py < in(3);
        wrong += inside != (pixels.mask(k, y, x) == 1);
        if (!inside) continue;
        ++count;
        left = std::min(left, x), top = std::min(top, y), right = std::max(right, x + 1),
        bottom = std::max(bottom, y + 1);
      }
    CHECK(wrong == 0);
    if (scale != 0) {
      const double area = static_cast<double>(in(2) - in(0)) * static_cast<double>(in(3) - in(1));
      const double share = static_cast<double>(count) / static_cast<double>(scale * scale) / area;
      CHECK(std::abs(share - static_cast<double>(out(4))) < 1e-5);
      if (count > 0)
        CHECK((out(0) == static_cast<float>(left) && out(1) == static_cast<float>(top) &&
               out(2) == static_cast<float>(right) && out(3) == static_cast<float>(bottom)));
    } else if (count > 0) {
      // A pixel whose centre is in the box belongs to it, so the box's sides are less than a pixel away.
      const auto most = static_cast<float>(resizes);
      CHECK((std::abs(out(0) - static_cast<float>(left)) <= most &&
             std::abs(out(1) - static_cast<float>(top)) <= most &&
             std::abs(out(2) - static_cast<float>(right)) <= most &&
             std::abs(out(3) - static_cast<float>(bottom)) <= most));
      CHECK(out(4) > 0);
    }
    CHECK((out(0) >= 0 && out(1) >= 0 && out(2) <= static_cast<float>(pixels.width()) &&
           out(3) <= static_cast<float>(pixels.height()) && out(0) <= out(2) && out(1) <= out(3)));

    const float x = number(after, "points", k, 0), y = number(after, "points", k, 1),
                seen = number(after, "points", k, 2), was = number(before, "points", k, 2);
    const auto pixel = static_cast<std::int32_t>(number(before, "points", k, 1)) * wide +
                       static_cast<std::int32_t>(number(before, "points", k, 0));
    bool there = false;
    for (std::int64_t py = 0; py < pixels.height(); ++py)
      for (std::int64_t px = 0; px < pixels.width(); ++px) there = there || pixels.at(py, px) == pixel;
    CHECK((seen == was || seen == 0));
    if (scale == 1) CHECK(there == (seen != 0));
    if (seen == 0) continue;
    const bool within =
        x >= 0 && y >= 0 && x < static_cast<float>(pixels.width()) && y < static_cast<float>(pixels.height());
    CHECK(within);
    if (!within) continue;
    const std::int32_t found = pixels.at(static_cast<std::int64_t>(y), static_cast<std::int64_t>(x));
    const std::int32_t most = scale != 0 ? 0 : resizes;
    CHECK(
        (found >= 0 && std::abs(found % wide - pixel % wide) <= most && std::abs(found / wide - pixel / wide) <= most));
  }
}

}  // namespace penstock_test
