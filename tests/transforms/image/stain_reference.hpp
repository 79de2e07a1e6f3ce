// SPDX-License-Identifier: Apache-2.0
// Stains of images and what normalising makes of a pixel, by the definitions in float64 and by other ways than the
// library's: angles are sorted, eigenvectors come of the characteristic polynomial, equations are solved.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <penstock/transforms/image/stain_fit.hpp>

#include "support/test_images.hpp"

namespace penstock_test {

using Three = std::array<double, 3>;

inline double dot_of(const Three& a, const Three& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
inline Three cross_of(const Three& a, const Three& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
inline Three unit_of(const Three& v) {
  const double length = std::sqrt(dot_of(v, v));
  return {v[0] / length, v[1] / length, v[2] / length};
}
inline double degrees_between(const Three& a, const Three& b) {
  const Three cross = cross_of(a, b);
  return std::atan2(std::sqrt(dot_of(cross, cross)), dot_of(a, b)) * 180 / 3.14159265358979323846;
}
inline Three wide(const std::array<float, 3>& v) {
  return {static_cast<double>(v[0]), static_cast<double>(v[1]), static_cast<double>(v[2])};
}

inline Three density_of(const std::uint8_t* rgb) {
  return {-std::log((rgb[0] + 1) / 256.0), -std::log((rgb[1] + 1) / 256.0), -std::log((rgb[2] + 1) / 256.0)};
}

// A percentile as NumPy's `percentile` has it.
inline double percentile_of(std::vector<double> values, double percent) {
  std::sort(values.begin(), values.end());
  const double at = percent / 100 * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (at - std::floor(at)) * (values[above] - values[below]);
}

struct StainsByDefinition {
  std::array<Three, 2> stains{};
  std::array<double, 2> concentrations{};
};

// c with c[0] stains[0] + c[1] stains[1] nearest to d: at right angles to what is left stand both stains.
inline std::array<double, 2> concentrations_of(const std::array<Three, 2>& stains, const Three& d) {
  const Three normal = cross_of(stains[0], stains[1]);
  const double whole = dot_of(normal, normal);
  return {dot_of(cross_of(d, stains[1]), normal) / whole, dot_of(cross_of(stains[0], d), normal) / whole};
}

inline StainsByDefinition macenko_by_definition(const std::vector<std::uint8_t>& rgb) {
  std::vector<Three> stained;
  for (std::size_t i = 0; i < rgb.size(); i += 3)
    if (const Three d = density_of(&rgb[i]); d[0] >= 0.15 && d[1] >= 0.15 && d[2] >= 0.15) stained.push_back(d);
  Three mean{};
  for (const Three& d : stained)
    for (std::size_t c = 0; c < 3; ++c) mean[c] += d[c] / static_cast<double>(stained.size());
  double a[3][3] = {};
  for (const Three& d : stained)
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < 3; ++j) a[i][j] += (d[i] - mean[i]) * (d[j] - mean[j]);
  // The plane of the two largest eigenvalues is at right angles to the eigenvector of the smallest, which is the least
  // root of the characteristic polynomial, by Viète.
  const double trace = a[0][0] + a[1][1] + a[2][2], q = trace / 3;
  double p2 = 2 * (a[0][1] * a[0][1] + a[0][2] * a[0][2] + a[1][2] * a[1][2]);
  for (int i = 0; i < 3; ++i) p2 += (a[i][i] - q) * (a[i][i] - q);
  const double p = std::sqrt(p2 / 6);
  double b[3][3];
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) b[i][j] = (a[i][j] - (i == j ? q : 0)) / p;
  const double half =
      (b[0][0] * (b[1][1] * b[2][2] - b[1][2] * b[2][1]) - b[0][1] * (b[1][0] * b[2][2] - b[1][2] * b[2][0]) +
       b[0][2] * (b[1][0] * b[2][1] - b[1][1] * b[2][0])) /
      2;
  const double phi = std::acos(std::clamp(half, -1.0, 1.0)) / 3;
  const double least = q + 2 * p * std::cos(phi + 2 * 3.14159265358979323846 / 3);
  const Three rows[3] = {
      {a[0][0] - least, a[0][1], a[0][2]}, {a[1][0], a[1][1] - least, a[1][2]}, {a[2][0], a[2][1], a[2][2] - least}};
  Three normal{};
  for (const auto& [i, j] : {std::pair(0, 1), {0, 2}, {1, 2}})
    if (const Three cross = cross_of(rows[i], rows[j]); dot_of(cross, cross) > dot_of(normal, normal)) normal = cross;
  normal = unit_of(normal);
  const double off = dot_of(normal, mean);
  const Three along = unit_of({mean[0] - off * normal[0], mean[1] - off * normal[1], mean[2] - off * normal[2]});
  const Three across = cross_of(normal, along);
  std::vector<double> angles;
  for (const Three& d : stained) angles.push_back(std::atan2(dot_of(d, across), dot_of(d, along)));
  StainsByDefinition out;
  for (std::size_t s = 0; s < 2; ++s) {
    const double angle = percentile_of(angles, s == 0 ? 1 : 99);
    for (std::size_t c = 0; c < 3; ++c) out.stains[s][c] = std::cos(angle) * along[c] + std::sin(angle) * across[c];
  }
  if (out.stains[0][0] < out.stains[1][0]) std::swap(out.stains[0], out.stains[1]);
  std::array<std::vector<double>, 2> amounts;
  for (const Three& d : stained) {
    const std::array<double, 2> c = concentrations_of(out.stains, d);
    amounts[0].push_back(c[0]);
    amounts[1].push_back(c[1]);
  }
  for (std::size_t s = 0; s < 2; ++s) out.concentrations[s] = percentile_of(amounts[s], 99);
  return out;
}

inline Three lab_by_definition(const std::uint8_t* rgb) {
  const double r = rgb[0] + 1, g = rgb[1] + 1, b = rgb[2] + 1;
  const double l = std::log(0.3811 * r + 0.5783 * g + 0.0402 * b), m = std::log(0.1967 * r + 0.7244 * g + 0.0782 * b),
               s = std::log(0.0241 * r + 0.1288 * g + 0.8444 * b);
  return {(l + m + s) / std::sqrt(3.0), (l + m - 2 * s) / std::sqrt(6.0), (l - m) / std::sqrt(2.0)};
}

struct LabByDefinition {
  Three mean{}, deviation{};
};
inline LabByDefinition reinhard_by_definition(const std::vector<std::uint8_t>& rgb) {
  std::vector<Three> all;
  for (std::size_t i = 0; i < rgb.size(); i += 3) all.push_back(lab_by_definition(&rgb[i]));
  LabByDefinition out;
  for (std::size_t c = 0; c < 3; ++c) {
    for (const Three& lab : all) out.mean[c] += lab[c] / static_cast<double>(all.size());
    double square = 0;
    for (const Three& lab : all)
      square += (lab[c] - out.mean[c]) * (lab[c] - out.mean[c]) / static_cast<double>(all.size());
    out.deviation[c] = std::sqrt(square);
  }
  return out;
}

// x with m x = right, by Gauss's elimination with the largest pivots.
inline Three solved(const std::array<Three, 3>& m, const Three& right) {
  double a[3][4];
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) a[i][j] = m[i][j];
    a[i][3] = right[i];
  }
  for (int p = 0; p < 3; ++p) {
    int best = p;
    for (int row = p; row < 3; ++row)
      if (std::abs(a[row][p]) > std::abs(a[best][p])) best = row;
    std::swap(a[p], a[best]);
    for (int row = 0; row < 3; ++row) {
      if (row == p) continue;
      const double factor = a[row][p] / a[p][p];
      for (int column = 0; column < 4; ++column) a[row][column] -= factor * a[p][column];
    }
  }
  return {a[0][3] / a[0][0], a[1][3] / a[1][1], a[2][3] / a[2][2]};
}

// What normalising makes of a pixel, not rounded.
inline Three normalized_by_definition(const std::uint8_t* rgb, const penstock::StainFit& fit,
                                      const penstock::StainFit& target) {
  Three out{};
  if (fit.method == penstock::StainMethod::macenko) {
    const std::array<double, 2> c = concentrations_of({wide(fit.stains[0]), wide(fit.stains[1])}, density_of(rgb));
    for (std::size_t i = 0; i < 3; ++i) {
      double density = 0;
      for (std::size_t s = 0; s < 2; ++s)
        density += c[s] * static_cast<double>(target.max_concentrations[s]) /
                   static_cast<double>(fit.max_concentrations[s]) * static_cast<double>(target.stains[s][i]);
      out[i] = 256 * std::exp(-density) - 1;
    }
  } else {
    Three lab = lab_by_definition(rgb);
    for (std::size_t c = 0; c < 3; ++c)
      lab[c] = (lab[c] - static_cast<double>(fit.mean[c])) * static_cast<double>(target.std[c]) /
                   static_cast<double>(fit.std[c]) +
               static_cast<double>(target.mean[c]);
    const double r3 = std::sqrt(3.0), r6 = std::sqrt(6.0), r2 = std::sqrt(2.0);
    const Three logs = solved({{{1 / r3, 1 / r3, 1 / r3}, {1 / r6, 1 / r6, -2 / r6}, {1 / r2, -1 / r2, 0}}}, lab);
    out = solved({{{0.3811, 0.5783, 0.0402}, {0.1967, 0.7244, 0.0782}, {0.0241, 0.1288, 0.8444}}},
                 {std::exp(logs[0]), std::exp(logs[1]), std::exp(logs[2])});
    for (double& value : out) value -= 1;
  }
  for (double& value : out) value = std::clamp(value, 0.0, 255.0);
  return out;
}

// Tissue of two stains: nuclei of haematoxylin, stroma of eosin, and cytoplasm of both. `strength` multiplies all
// concentrations.
struct StainedTissue {
  std::array<Three, 2> stains{{{0.65, 0.70, 0.29}, {0.07, 0.99, 0.11}}};
  std::array<double, 2> strength{1, 1};
  std::uint64_t seed = 0;
  // Concentrations of a pixel, at most 1.6 and 1.
  std::array<double, 2> concentrations(Numbers& numbers) const {
    const int kind = numbers.below(10);
    const double amount = 0.35 + numbers.below(1000) / 1000.0 * 0.65;
    if (kind < 3) return {1.6 * amount * strength[0], 0};
    if (kind < 7) return {0, amount * strength[1]};
    return {0.8 * amount * strength[0], 0.6 * amount * strength[1]};
  }
  Image image(const penstock::ImageShape& shape) const {
    Image out(shape);
    Numbers numbers(seed);
    for (std::size_t i = 0; i < out.pixels.size(); i += 3) {
      const std::array<double, 2> c = concentrations(numbers);
      for (std::size_t k = 0; k < 3; ++k)
        out.pixels[i + k] = static_cast<std::uint8_t>(std::clamp(
            std::lround(256 * std::exp(-c[0] * unit_of(stains[0])[k] - c[1] * unit_of(stains[1])[k]) - 1), 0L, 255L));
    }
    return out;
  }
};

inline penstock::StainFit fit_of(const Image& image, penstock::StainMethod method) {
  return penstock::fit_stain(penstock::View<const std::uint8_t, 3>(
                                 image.pixels.data(), {image.shape.height, image.shape.width, image.shape.channels}),
                             method);
}

}  // namespace penstock_test
