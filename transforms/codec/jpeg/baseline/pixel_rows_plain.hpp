// SPDX-License-Identifier: Apache-2.0
// The kernels of pixel_rows.hpp in plain C++.
#pragma once

#include "pixel_rows.hpp"

namespace penstock::jpeg::baseline {

// How chroma between two values is rounded. Before the shift, `even` is added for even pixels, and `odd` for odd
// pixels.
struct AcrossRounding {
  int shift, even, odd;
};
inline constexpr AcrossRounding of_values{2, 1, 2}, of_sums{4, 8, 7};

PixelRowKernels pixel_rows_plain();

}  // namespace penstock::jpeg::baseline
