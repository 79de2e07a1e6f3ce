// What finding stains and changing them have in common.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include <penstock/transforms/image/stain_fit.hpp>

#include "matrix3.hpp"

namespace penstock::image {

// Rows by which densities become the concentrations of two stains, by least squares. None where the stains are less
// than a degree apart, or are no colours.
using StainInverse = std::array<Vector3, 2>;
std::optional<StainInverse> inverse_of(const std::array<Vector3, 2>& stains) noexcept;

// Reinhard's spaces: cones of RGB, and l, alpha and beta of the cones' logarithms.
inline constexpr Matrix3 cones_of_rgb{{{0.3811, 0.5783, 0.0402}, {0.1967, 0.7244, 0.0782}, {0.0241, 0.1288, 0.8444}}};
inline constexpr Matrix3 rgb_of_cones = inverse(cones_of_rgb);
inline constexpr double root_2 = 1.4142135623730951, root_3 = 1.7320508075688772, root_6 = 2.449489742783178;
// Its rows are at right angles and have the length 1.
inline constexpr Matrix3 lab_of_log_cones{
    {{1 / root_3, 1 / root_3, 1 / root_3}, {1 / root_6, 1 / root_6, -2 / root_6}, {1 / root_2, -1 / root_2, 0}}};

// Why a fit can't be one: "its stains are less than a degree apart"; empty: it can.
std::string_view what_is_wrong(const StainFit& fit) noexcept;

// @throws Error(unsupported) where so few pixels are none to measure. `which`: "that show stain".
void require_pixels(std::uint64_t count, std::string_view which);
[[noreturn]] void throw_one_stain();

}  // namespace penstock::image
