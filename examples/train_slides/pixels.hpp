// SPDX-License-Identifier: Apache-2.0
// Converts a tile to the numbers that the networks of both programs get.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <penstock/batch.hpp>

constexpr std::int64_t side = 32;
constexpr std::size_t features = side * side * 3;

// Converts pixels to numbers around 0.
inline std::span<const float> features_of(const penstock::Batch& batch, std::vector<float>& out) {
  const auto pixels = batch.view<const std::uint8_t, 4>("image").flat();
  out.resize(pixels.size());
  std::transform(pixels.begin(), pixels.end(), out.begin(),
                 [](std::uint8_t v) { return (static_cast<float>(v) - 160.0f) / 64.0f; });
  return out;
}
