// SPDX-License-Identifier: Apache-2.0
// Matrices of 3 x 3 in binary64.
#pragma once

#include <array>
#include <cstddef>

namespace penstock::image {

using Vector3 = std::array<double, 3>;
using Matrix3 = std::array<Vector3, 3>;

constexpr double dot(const Vector3& a, const Vector3& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

constexpr Vector3 product(const Matrix3& m, const Vector3& v) { return {dot(m[0], v), dot(m[1], v), dot(m[2], v)}; }

constexpr Matrix3 inverse(const Matrix3& m) {
  const auto minor = [&m](std::size_t row, std::size_t column) {
    const std::size_t r = (row + 1) % 3, s = (row + 2) % 3, c = (column + 1) % 3, d = (column + 2) % 3;
    return m[r][c] * m[s][d] - m[r][d] * m[s][c];
  };
  const double determinant = m[0][0] * minor(0, 0) + m[0][1] * minor(0, 1) + m[0][2] * minor(0, 2);
  Matrix3 out{};
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) out[i][j] = minor(j, i) / determinant;
  return out;
}

}  // namespace penstock::image
