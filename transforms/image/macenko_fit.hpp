// SPDX-License-Identifier: Apache-2.0
// Measures the fit of `StainMethod::macenko`.
#pragma once

#include <cstdint>
#include <span>

#include <penstock/transforms/image/stain_fit.hpp>

namespace penstock::image {

// `rgb` has three values per pixel. @throws like fit_stain.
StainFit macenko_fit(std::span<const std::uint8_t> rgb);

}  // namespace penstock::image
