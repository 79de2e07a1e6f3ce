// SPDX-License-Identifier: Apache-2.0
// Code for both measuring and changing stains.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include <penstock/transforms/image/stain_fit.hpp>

#include "matrix3.hpp"

namespace penstock::image {

// Returns the two rows of the matrix that turns densities into the concentrations of two stains, by least squares.
// Returns nothing if the stains are less than one degree apart, or if a stain is zero or not finite.
using StainInverse = std::array<Vector3, 2>;
std::optional<StainInverse> inverse_of(const std::array<Vector3, 2>& stains) noexcept;

// Matrices of Reinhard's spaces: from RGB to cones, and from the cones' logarithms to l, alpha and beta.
inline constexpr Matrix3 cones_of_rgb{{{0.3811, 0.5783, 0.0402}, {0.1967, 0.7244, 0.0782}, {0.0241, 0.1288, 0.8444}}};
inline constexpr Matrix3 rgb_of_cones = inverse(cones_of_rgb);
inline constexpr double root_2 = 1.4142135623730951, root_3 = 1.7320508075688772, root_6 = 2.449489742783178;
// The rows of this matrix are orthogonal and have length 1.
inline constexpr Matrix3 lab_of_log_cones{
    {{1 / root_3, 1 / root_3, 1 / root_3}, {1 / root_6, 1 / root_6, -2 / root_6}, {1 / root_2, -1 / root_2, 0}}};

// Returns why a fit is invalid, for instance "its two stains are less than a degree apart". Returns an empty text if
// the fit is valid.
std::string_view what_is_wrong(const StainFit& fit) noexcept;

// @throws Error(unsupported) if there are too few pixels to measure. The error names the pixels by `which`, for
// instance "that show stain".
void require_pixels(std::uint64_t count, std::string_view which);
[[noreturn]] void throw_one_stain();

}  // namespace penstock::image
