// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#ifndef __CUDA_ARCH__
#include <bit>
#endif

#include <penstock/extend/host_device.hpp>

namespace penstock {

/// The change that `stain_jitter` makes to the pixels of one image, for the host and for kernels. D, the vector of the
/// optical densities of R, G and B, becomes `matrix` x D + `offset`.
struct StainChange {
  /// Channel i of `matrix` x D is the sum of `matrix[i][j]` times channel j of D over all j.
  float matrix[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  /// `offset[i]` is the optical density that is added to channel i.
  float offset[3] = {0, 0, 0};
  std::uint32_t active = 1;  ///< if 0, as in a row with mask 0, the image becomes black
};

/// The optical densities of all levels (a channel's values, 0 to 255): -log((level + 1) / 256), rounded to the nearest
/// binary32. A plain struct, so that a kernel can take it as an argument.
struct OpticalDensities {
  /// `of[i]` is the density of level i.
  float of[256];
};

namespace exact {

/// Returns e^x for x in [-80, 0] with a relative error below 3e-7. The bits are the same everywhere.
PENSTOCK_HOST_DEVICE inline float exp(float x) noexcept {
  // x = k ln 2 + r. For r, ln 2 is split into two parts. The first part has so few bits that its product with k is
  // exact.
  const auto k = static_cast<std::int32_t>(sum(product(x, 1.44269504f), -0.5f));
  const auto multiple = static_cast<float>(k);
  const float r = sum(sum(x, product(multiple, -0.693145751953125f)), product(multiple, -1.42860677e-6f));
  float series = 1.0f / 720;
  series = sum(product(series, r), 1.0f / 120);
  series = sum(product(series, r), 1.0f / 24);
  series = sum(product(series, r), 1.0f / 6);
  series = sum(product(series, r), 0.5f);
  series = sum(product(series, r), 1);
  series = sum(product(series, r), 1);
  const std::uint32_t power = static_cast<std::uint32_t>(k + 127) << 23;  // the bits of 2^k
#ifdef __CUDA_ARCH__
  return product(series, __uint_as_float(power));
#else
  return product(series, std::bit_cast<float>(power));
#endif
}

}  // namespace exact

/// Returns the level of a density: 256 e^-density - 1 in [0, 255], rounded to the nearest.
PENSTOCK_HOST_DEVICE inline std::uint8_t level_of_density(float density) noexcept {
  // Density 0 is level 255, and density 6 is below level 0.
  const float inside = density < 0 ? 0 : density > 6 ? 6 : density;
  // -1 of the formula and 0.5 for rounding make -0.5; the conversion cuts the fraction off. The result is in [0, 255].
  return static_cast<std::uint8_t>(
      static_cast<std::int32_t>(exact::sum(exact::product(exact::exp(-inside), 256.0f), -0.5f)));
}

/// Changes one pixel: reads R, G and B at `from`, and writes the changed values to `to`, which may be the same address.
PENSTOCK_HOST_DEVICE inline void change_stains(const std::uint8_t* from, std::uint8_t* to, const StainChange& change,
                                               const OpticalDensities& densities) noexcept {
  const float r = densities.of[from[0]], g = densities.of[from[1]], b = densities.of[from[2]];
  for (int c = 0; c < 3; ++c) {
    const float* const row = change.matrix[c];
    const float mixed =
        exact::sum(exact::sum(exact::product(row[0], r), exact::product(row[1], g)), exact::product(row[2], b));
    to[c] = change.active == 0 ? std::uint8_t{0} : level_of_density(exact::sum(mixed, change.offset[c]));
  }
}

}  // namespace penstock
