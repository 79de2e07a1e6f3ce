// SPDX-License-Identifier: Apache-2.0
// The rows of pixel_rows.hpp in plain C++.
#pragma once

#include "pixel_rows.hpp"

namespace penstock::jpeg::baseline {

// Rounding of chroma between two values: added for the even pixels and for the odd pixels, before the shift.
struct AcrossRounding {
  int shift, even, odd;
};
inline constexpr AcrossRounding of_values{2, 1, 2}, of_sums{4, 8, 7};

PixelRows pixel_rows_plain();

}  // namespace penstock::jpeg::baseline
