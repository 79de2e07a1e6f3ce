// SPDX-License-Identifier: Apache-2.0
// Undoes TIFF's predictor 2, as TIFF 6.0, section 14, specifies it.
#pragma once

#include <cstddef>

namespace penstock::slide {

/// Replaces each value of a row by the sum of all values of its sample up to it. `samples`: values of a pixel, 1 to 4.
/// `value_bytes`: 1, or 2 for values in the machine's byte order. Any thread.
void sum_row(std::byte* row, std::size_t pixels, std::size_t samples, std::size_t value_bytes) noexcept;

}  // namespace penstock::slide
