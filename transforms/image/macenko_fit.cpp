// SPDX-License-Identifier: Apache-2.0
#include "macenko_fit.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "exact_math.hpp"
#include "matrix3.hpp"
#include "stain_numbers.hpp"

namespace penstock::image {

namespace {

constexpr double least_density = 0.15, low_share = 0.01, high_share = 0.99;

// Optical densities of all levels in binary64, and the highest level whose density is at least `least_density`.
struct DensityTable {
  DensityTable() {
    for (std::size_t level = 0; level < of.size(); ++level) {
      of[level] = 0 - exact_log((static_cast<double>(level) + 1) / 256);
      if (of[level] >= least_density) most_level = static_cast<int>(level);
    }
  }
  std::array<double, 256> of{};
  int most_level = 0;
};

const DensityTable& density_table() {
  static const DensityTable table;
  return table;
}

// Calls `use` with the densities of each pixel whose three densities are all at least `least_density`.
template <class Use>
void for_each_stained(std::span<const std::uint8_t> rgb, const Use& use) {
  const DensityTable& table = density_table();
  for (std::size_t i = 0; i + 2 < rgb.size(); i += 3)
    if (std::max({rgb[i], rgb[i + 1], rgb[i + 2]}) <= table.most_level)
      use(Vector3{table.of[rgb[i]], table.of[rgb[i + 1]], table.of[rgb[i + 2]]});
}

struct Moments {
  std::uint64_t count = 0;
  Vector3 mean{};
  Matrix3 covariance{};
};

// Sums up `pixels_together` pixels at a time, and then adds these sums, so that rounding errors stay small in
// large images.
Moments moments_of(std::span<const std::uint8_t> rgb) {
  constexpr std::size_t pixels_together = 4096;
  std::array<double, 9> all{}, part{};
  std::uint64_t count = 0;
  for (std::size_t first = 0; first < rgb.size(); first += 3 * pixels_together) {
    part.fill(0);
    for_each_stained(rgb.subspan(first, std::min(3 * pixels_together, rgb.size() - first)), [&](const Vector3& d) {
      ++count;
      for (std::size_t i = 0, at = 3; i < 3; ++i) {
        part[i] += d[i];
        for (std::size_t j = i; j < 3; ++j) part[at++] += d[i] * d[j];
      }
    });
    for (std::size_t i = 0; i < all.size(); ++i) all[i] += part[i];
  }
  Moments moments{count};
  if (count == 0) return moments;
  const auto n = static_cast<double>(count);
  for (std::size_t i = 0; i < 3; ++i) moments.mean[i] = all[i] / n;
  for (std::size_t i = 0, at = 3; i < 3; ++i)
    for (std::size_t j = i; j < 3; ++j)
      moments.covariance[i][j] = moments.covariance[j][i] = all[at++] / n - moments.mean[i] * moments.mean[j];
  return moments;
}

// Returns the eigenvectors of a symmetric matrix, by Jacobi's rotations. The eigenvector of the largest eigenvalue
// comes first.
Matrix3 eigenvectors_of(Matrix3 m) {
  Matrix3 vectors{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};  // rows
  constexpr int most_sweeps = 30;
  for (int sweep = 0; sweep < most_sweeps; ++sweep)
    for (const auto& [p, q] : {std::pair<std::size_t, std::size_t>{0, 1}, {0, 2}, {1, 2}}) {
      if (m[p][q] == 0) continue;
      const double theta = (m[q][q] - m[p][p]) / (2 * m[p][q]);
      const double t = (theta < 0 ? -1 : 1) / (std::abs(theta) + std::sqrt(theta * theta + 1));
      const double c = 1 / std::sqrt(t * t + 1), s = t * c;
      for (std::size_t k = 0; k < 3; ++k) {
        const double a = m[k][p], b = m[k][q];
        m[k][p] = c * a - s * b;
        m[k][q] = s * a + c * b;
      }
      for (std::size_t k = 0; k < 3; ++k) {
        const double a = m[p][k], b = m[q][k];
        m[p][k] = c * a - s * b;
        m[q][k] = s * a + c * b;
        const double u = vectors[p][k], v = vectors[q][k];
        vectors[p][k] = c * u - s * v;
        vectors[q][k] = s * u + c * v;
      }
      m[p][q] = m[q][p] = 0;
    }
  std::array<std::size_t, 3> order{0, 1, 2};
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) { return m[a][a] > m[b][b]; });
  return {vectors[order[0]], vectors[order[1]], vectors[order[2]]};
}

// Divides a range into parts of the same width, and counts the values in each part.
class Histogram {
 public:
  Histogram(double low, double high)
      : low_(low), width_((high - low) / static_cast<double>(bins)), scale_(1 / width_), counts_(bins) {}
  void add(double value) noexcept {
    const double at = (value - low_) * scale_;
    ++counts_[at < 0 ? 0 : std::min(static_cast<std::size_t>(at), bins - 1)];
    ++count_;
  }
  // Returns a quantile: the given share of all values is below it. Interpolates linearly between two values, like most
  // packages.
  double quantile(double share) const noexcept {
    const double rank = share * static_cast<double>(count_ - 1);
    const auto lower = static_cast<std::uint64_t>(rank);
    const double a = value_of(lower), b = value_of(std::min(lower + 1, count_ - 1));
    return a + (rank - static_cast<double>(lower)) * (b - a);
  }

 private:
  // Returns the value with this number in ascending order. A value in the range is off by at most half of a part's
  // width.
  double value_of(std::uint64_t number) const noexcept {
    std::size_t bin = 0;
    for (std::uint64_t before = counts_[0]; before <= number && bin + 1 < bins;) before += counts_[++bin];
    return low_ + (static_cast<double>(bin) + 0.5) * width_;
  }

  static constexpr std::size_t bins = 65536;
  double low_, width_, scale_;
  std::vector<std::uint64_t> counts_;
  std::uint64_t count_ = 0;
};

// Returns a number that grows with the angle of a direction: from -2 to 2 for -180 to 180 degrees. Uses no function
// whose bits differ between libraries.
double angle_number(double x, double y) noexcept {
  const double sum = std::abs(x) + std::abs(y);
  if (sum == 0) return 0;
  const double part = y / sum;
  return x >= 0 ? part : y >= 0 ? 2 - part : -2 - part;
}
std::array<double, 2> direction_of(double number) noexcept {
  const double size = std::abs(number), y = size <= 1 ? size : 2 - size;
  return {1 - size, number < 0 ? -y : y};
}

// A plane through the origin, as two orthogonal vectors of length 1. `along` has the direction of the pixels' mean,
// projected onto the plane.
struct Plane {
  Vector3 along, across;
};

Plane plane_of(const Moments& moments) {
  const Matrix3 vectors = eigenvectors_of(moments.covariance);
  const double a = dot(vectors[0], moments.mean), b = dot(vectors[1], moments.mean);
  const double length = std::sqrt(a * a + b * b);
  if (!(length > 0)) throw_one_stain();
  Plane plane{};
  for (std::size_t i = 0; i < 3; ++i) {
    plane.along[i] = (a * vectors[0][i] + b * vectors[1][i]) / length;
    plane.across[i] = (a * vectors[1][i] - b * vectors[0][i]) / length;
  }
  return plane;
}

Vector3 unit_vector(const Plane& plane, double angle) {
  const auto [x, y] = direction_of(angle);
  Vector3 v{};
  for (std::size_t i = 0; i < 3; ++i) v[i] = x * plane.along[i] + y * plane.across[i];
  const double length = std::sqrt(dot(v, v));
  for (double& value : v) value /= length;
  return v;
}

}  // namespace

StainFit macenko_fit(std::span<const std::uint8_t> rgb) {
  const Moments moments = moments_of(rgb);
  require_pixels(moments.count, "that show stain");
  const Plane plane = plane_of(moments);
  Histogram angles(-2, 2);
  for_each_stained(rgb, [&](const Vector3& d) { angles.add(angle_number(dot(plane.along, d), dot(plane.across, d))); });
  std::array<Vector3, 2> stains{unit_vector(plane, angles.quantile(low_share)),
                                unit_vector(plane, angles.quantile(high_share))};
  if (stains[0][0] < stains[1][0]) std::swap(stains[0], stains[1]);
  const std::optional<StainInverse> inverse = inverse_of(stains);
  if (!inverse) throw_one_stain();
  const double black = density_table().of[0];
  const auto most = [&](const Vector3& row) {
    return black * (std::max(row[0], 0.0) + std::max(row[1], 0.0) + std::max(row[2], 0.0));
  };
  std::array<Histogram, 2> amounts{Histogram(0, most((*inverse)[0])), Histogram(0, most((*inverse)[1]))};
  for_each_stained(rgb, [&](const Vector3& d) {
    for (std::size_t s = 0; s < 2; ++s) amounts[s].add(dot((*inverse)[s], d));
  });
  StainFit fit;
  fit.method = StainMethod::macenko;
  for (std::size_t s = 0; s < 2; ++s) {
    for (std::size_t i = 0; i < 3; ++i) fit.stains[s][i] = static_cast<float>(stains[s][i]);
    fit.max_concentrations[s] = static_cast<float>(amounts[s].quantile(high_share));
  }
  return fit;
}

}  // namespace penstock::image
